import { readDonationStatement } from '../../../src/giving/donations/read-donation-statement.ts';
import { openProfile } from '../../../src/people/members/profile.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { buildCause } from '../causes/build-cause.ts';
import { buildOpenDonations, give } from './build-donations.ts';

interface Line {
  donation_id: string;
  donated_at: string;
  type: string;
  cause_id: string | null;
  cause_name: string | null;
  amount: string;
  status: string;
}

let stack: Stack;
let donor: BuiltUser;
let causeId: string;
const thisYear = Number(westernIndonesiaDay(new Date()).slice(0, 4));
const columns = ['donation_id', 'donated_at', 'type', 'cause_id', 'cause_name', 'amount', 'status'] as const;

beforeAll(async () => {
  stack = await startStack();
  causeId = await buildCause(stack, await buildOrganizationAdmin(stack), await buildSuperAdmin(stack));
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  donor = await buildIndividual(stack, { balance: '1000000' });
});

const statement = (year: number | string, accept = 'application/json', by = donor) =>
  stack.get(`/v1/donations/statements/${year}`, { token: by.token, headers: { accept } });

/** Moves the donor's last donation and its payment to an instant. */
async function backdateLast(at: string): Promise<void> {
  await withoutTriggers(
    stack,
    `with last as (update donations set created_at = ? where id = (
       select id from donations where user_id = ? order by created_at desc, id desc limit 1) returning transaction_id)
     update transactions t set created_at = ? from last where t.id = last.transaction_id`,
    [at, donor.id, at],
  );
}
const rename = (name: string) =>
  withoutTriggers(stack, 'update charitable_causes set name = ? where id = ?', [name, causeId]);

describe('A statement of donations', () => {
  it('A donation statement lists what the donor gave in a year, oldest first, with totals', async () => {
    await give(stack, donor, 1500, causeId);
    await give(stack, donor, 25);
    const [name] = await stack
      .em()
      .execute<{ name: string }[]>('select name from charitable_causes where id = ?', [causeId]);
    const user = await openProfile(stack.deps.sealer, await stack.em().findOneOrFail(User, donor.id));
    const line = {
      donation_id: expect.any(String),
      donated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      status: 'completed',
    };
    expect(await statement(thisYear)).toMatchObject({
      status: 200,
      body: {
        message: expect.any(String),
        data: {
          year: thisYear,
          donor_id: donor.id,
          donor_name: user?.name,
          currency: 'IDR',
          count: 2,
          donated: '1525.0000',
          refunded: '0.0000',
          total: '1525.0000',
          donations: [
            { ...line, type: 'specific', cause_id: causeId, cause_name: name?.name, amount: '1500.0000' },
            { ...line, type: 'open', cause_id: null, cause_name: null, amount: '25.0000' },
          ],
        },
      },
    });
    const { body: own } = await stack.get('/v1/donations?order=asc', { token: donor.token });
    const ids = own.data.items.map(({ id }: { id: string }) => id).toReversed();
    const { donations } = (await statement(thisYear)).body.data;
    expect(donations.map(({ donation_id }: Line) => donation_id).toSorted()).toEqual(ids.toSorted());
  });

  it('A donation statement assigns payments to years by their day in UTC+7', async () => {
    const at = ['2024-12-31T16:59:59.999Z', '2024-12-31T17:00:00.000Z', '2025-12-31T16:59:59.999Z'];
    for (const [index, instant] of at.entries()) {
      await give(stack, donor, index + 1);
      await backdateLast(instant);
    }
    const given = async (year: number) => (await statement(year)).body.data.donations.map(({ amount }: Line) => amount);
    expect([await given(2024), await given(2025), await given(2026)]).toEqual([['1.0000'], ['2.0000', '3.0000'], []]);
    expect((await statement(2025)).body.data.total).toBe('5.0000');
  });

  it('A donation statement shows refunded donations and does not count them', async () => {
    await give(stack, donor, 100, causeId);
    await give(stack, donor, 40, causeId);
    const [last] = (await stack.get('/v1/donations', { token: donor.token })).body.data.items;
    expect((await stack.post(`/v1/donations/${last.id}/refund`, undefined, { token: donor.token })).status).toBe(200);
    const { donated, refunded, total, donations } = (await statement(thisYear)).body.data;
    expect([donated, refunded, total]).toEqual(['140.0000', '40.0000', '100.0000']);
    expect(donations.map(({ status }: Line) => status)).toEqual(['completed', 'refunded']);
    expect((await statement(thisYear, 'text/html')).body).toContain('<s>Rp 40</s> refunded');
  });

  it('A donation statement in CSV writes a cause’s name as text, never as a formula', async () => {
    await rename('=SUM(A1:A9), "Well"');
    await give(stack, donor, 1500, causeId);
    const { donations } = (await statement(thisYear)).body.data;
    const { status, headers, body } = await statement(thisYear, 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [{ donation_id, donated_at }] = donations;
    expect(body).toBe(
      `${columns.join(',')}\r\n${donation_id},${donated_at},specific,${causeId},"'=SUM(A1:A9), ""Well""",1500.0000,completed\r\n`,
    );
  });

  it('A donation statement for a browser is a printable page with all text escaped', async () => {
    await rename('<script>alert("x")</script> & Co');
    expect((await stack.patch('/v1/auth/me', { name: 'Ani <b>' }, { token: donor.token })).status).toBe(200);
    await give(stack, donor, 1_250_000 / 2, causeId);
    await give(stack, donor, 25);
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const { donations } = (await statement(thisYear)).body.data;
    const { status, headers, body } = await statement(thisYear, browser);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(body).toMatch(/<\/html>\n$/);
    expect(body).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; Co');
    expect(body).toContain('<dd>Ani &lt;b&gt;</dd>');
    expect(body).not.toContain('<script');
    expect(body).toContain('Rp 625.000<');
    expect(body).toContain('<strong>Rp 625.025</strong>');
    expect(body).toContain(
      `<td>${westernIndonesiaDay(new Date(donations[1].donated_at))}</td><td>Where it is needed most</td>`,
    );
    expect(body).toContain('@media print');
  });

  it('A donation statement of someone who gave nothing is empty in every format', async () => {
    const { data } = (await statement(thisYear)).body;
    expect([data.count, data.total, data.donations]).toEqual([0, '0.0000', []]);
    expect((await statement(thisYear, 'text/csv')).body).toBe(`${columns.join(',')}\r\n`);
    expect((await statement(thisYear, 'text/html')).body).toContain('<tbody>\n</tbody>');
  });

  it('A donation statement omits other people’s donations and unpaid ones', async () => {
    await give(stack, await buildIndividual(stack, { balance: '10' }), 5, causeId);
    await stack
      .em()
      .execute(
        "insert into donations (id, user_id, type, amount, status) values (gen_random_uuid(), ?, 'open', 5, 'pending')",
        [donor.id],
      );
    expect((await statement(thisYear)).body.data.donations).toEqual([]);
    expect((await statement(thisYear, 'application/json', await buildPlatformAdmin(stack))).body.data?.count ?? 0).toBe(
      0,
    );
  });

  itInFull('A donation statement of thousands of rows is read a thousand at a time', async () => {
    await buildOpenDonations(stack, donor, 2500);
    const sizes: number[] = [];
    for await (const part of readDonationStatement(stack.em(), stack.deps.sealer, {
      userId: donor.id,
      year: thisYear,
    })) {
      if ('lines' in part) sizes.push(part.lines.length);
    }
    expect(sizes).toEqual([1000, 1000, 500]);
    const { data } = (await statement(thisYear)).body;
    expect([data.count, data.donations.length, data.total]).toEqual([2500, 2500, '2500000.0000']);
    expect((await statement(thisYear, 'text/html')).body.match(/<tr><td>/g)).toHaveLength(2500);
  });

  it.each(['20xx', '202', '02026', '1999', '0000', '9999', '2026-01', '-2026'])(
    'A donation statement of %s returns 400 and names the field',
    async (year) => {
      const { status, body } = await statement(year);
      expect([status, String(body.message)]).toEqual([400, expect.stringContaining('year')]);
    },
  );

  it('A donation statement of next year is refused, and one of the first year is empty', async () => {
    expect((await statement(thisYear + 1)).body.message).toBe('year: must not be in the future');
    expect((await statement(2000)).body.data.donations).toEqual([]);
  });

  it('A donation statement needs a token (401) and the permission (403), in every format', async () => {
    expect((await stack.get(`/v1/donations/statements/${thisYear}`)).status).toBe(401);
    await stack.owner().execute('update users set role_id = null where id = ?', [donor.id]);
    for (const accept of ['application/json', 'text/csv', 'text/html']) {
      expect((await statement(thisYear, accept)).status).toBe(403);
    }
  });
});
