import { z } from 'zod';
import { nextOf } from '../../../src/platform/database/position.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { type List, lists, makersOf, strangeIds } from './lists-things.ts';

let stack: Stack;
let people: Record<'person' | 'admin' | 'platform' | 'stranger', BuiltUser>;
let partners: Record<'partner' | 'other', BuiltPartner>;
beforeAll(async () => {
  stack = await startStack({ own: true, env: { LOG_LEVEL: 'error' } });
  people = {
    person: await buildIndividual(stack),
    admin: await buildOrganizationAdmin(stack),
    platform: await buildSuperAdmin(stack),
    stranger: await buildOrganizationAdmin(stack),
  };
  partners = { partner: await buildPartner(stack), other: await buildPartner(stack) };
}, 90_000);
afterAll(() => stack?.stop());

const paths = routeGroups
  .flatMap(({ routes }) => routes)
  .filter(({ method, query }) => method === 'get' && query instanceof z.ZodObject && 'after' in query.shape)
  .map(({ path }) => path);

interface Page {
  ids: string[];
  next: string | undefined;
}

/** Returns the rows and `next` of an answer, in whichever envelope. */
function pageIn({ status, body }: HttpAnswer): Page {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  const envelope: Record<string, unknown> = body.data ?? body;
  const rows = Object.values(envelope).find(Array.isArray) ?? [];
  return {
    ids: rows.map(({ id, payout_id, payment_order_id }) => payment_order_id ?? payout_id ?? id),
    next: envelope.next as string | undefined,
  };
}

const ask = ({ as }: List, path: string): Promise<HttpAnswer> =>
  as === 'partner'
    ? partners.partner.get(path.slice('/v1/partners'.length))
    : stack.get(path, { token: people[as].token });

/** Returns the error without its request id. */
const refusalIn = ({ status, body }: HttpAnswer) => ({ status, body: { ...body, request_id: undefined } });

describe('Every list', () => {
  it('Every list is in the table of this test', () => {
    expect(Object.keys(lists).toSorted()).toEqual(paths.toSorted());
  });

  it.each(Object.entries(lists))(
    '%s pages by `next` to its end, even if rows are deleted, and rejects an `after` that matches no row',
    async (template, list) => {
      const { ids: words = {}, foreign } = await list.make(stack, makersOf(list, { ...people, ...partners }), template);
      const path = template.replace(/:(\w+)/g, (_, name: string) => String(words[name]));
      const until = list.byId === true ? `&to=${new Date().toISOString()}` : '';
      const read = async (query: string) => pageIn(await ask(list, `${path}?${query}${until}`));

      const all: string[] = [];
      for (let page = 1, more = true; more; page += 1) {
        const { ids, next } = await read(`limit=100&page=${page}`);
        all.push(...ids);
        more = next !== undefined;
      }
      expect(all.length).toBeGreaterThanOrEqual(3);
      expect(new Set(all).size).toBe(all.length);

      const { ids: seen, next: second } = await read('limit=1');
      expect(seen).toEqual(all.slice(0, 1));
      expect(second).toMatch(/^n[\w-]+$/);
      const byNumber = await read('limit=1&page=2');
      expect(byNumber).toEqual(await read(`limit=1&after=${second}`));
      expect(await read(`limit=1&after=${seen[0]}`)).toEqual(byNumber);

      if (list.leave !== undefined) await withoutTriggers(stack, list.leave, [all[0]]);
      for (let next = second; next !== undefined; ) {
        const page = await read(`limit=${Math.min(100, Math.max(2, Math.ceil(all.length / 3)))}&after=${next}`);
        expect(page.ids).not.toEqual([]);
        seen.push(...page.ids);
        next = page.next;
      }
      expect(seen).toEqual(all);

      const { absent, misshapen } = strangeIds(list);
      if (list.byId !== true) {
        const missing = refusalIn(await ask(list, `${path}?after=${absent}`));
        expect(missing.status).toBe(400);
        expect(JSON.stringify(missing.body)).toContain('after: matches no row of this list; use a value of next');
        for (const after of [foreign, list.leave && all[0]].filter((id) => id !== undefined)) {
          expect(refusalIn(await ask(list, `${path}?after=${after}`))).toEqual(missing);
        }
      }
      const place = '2026-01-31T08:00:00.123456Z';
      const strange = [
        'x',
        '',
        'n',
        `${second}A`,
        `${second}%3D`,
        nextOf(place),
        nextOf(`${place} x`),
        nextOf(`2026-02-30T08:00:00.123456Z ${absent}`),
        nextOf(`0000-01-31T08:00:00.123456Z ${absent}`),
        nextOf(`${place} ${misshapen}`),
      ];
      const index = Object.keys(lists).indexOf(template);
      for (const after of casesOf(strange, (_, which) => which % 5 === index % 5)) {
        const { status, body } = await ask(list, `${path}?after=${after}`);
        expect([after, status, JSON.stringify(body)]).toEqual([
          after,
          400,
          expect.stringContaining('after: must be the id of a row, or a value of next'),
        ]);
      }
    },
    30_000,
  );
});

describe('Keyset paging', () => {
  it('`next` distinguishes rows of the same millisecond, and of the same instant', async () => {
    const made: string[] = [];
    for (const instant of ['000001', '000001', '000002', '000999']) {
      const id = await buildOrganization(stack);
      made.push(id);
      await withoutTriggers(stack, 'update organizations set created_at = ? where id = ?', [
        `2001-01-01 00:00:00.${instant}+00`,
        id,
      ]);
    }
    const expected = [...made.slice(0, 2).toSorted(), ...made.slice(2)];
    const list = lists['/v1/organizations'] as List;
    const seen: string[] = [];
    for (let after = ''; seen.length < expected.length; ) {
      const { ids, next } = pageIn(await ask(list, `/v1/organizations?order=asc&limit=1${after}`));
      seen.push(...ids);
      after = `&after=${next}`;
    }
    expect(seen).toEqual(expected);
  });

  it('`next` carries the total, which is recounted when the filters change', async () => {
    const read = async (query: string) => {
      const { body } = await stack.get(`/v1/users?limit=1${query}`, { token: people.platform.token });
      return (body.data ?? body) as { total: number; next: string };
    };
    const begun = await read('');
    await buildIndividual(stack);
    expect((await read('')).total).toBe(begun.total + 1);
    const second = await read(`&after=${begun.next}`);
    expect(second.total).toBe(begun.total);
    expect((await read(`&after=${second.next}`)).total).toBe(begun.total);
    const { total } = await read('&user_type=organization');
    expect(total).toBeLessThan(begun.total);
    expect((await read(`&user_type=organization&after=${begun.next}`)).total).toBe(total);
  });
});
