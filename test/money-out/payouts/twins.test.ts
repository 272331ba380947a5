import type { Part } from '../../../dev/part.ts';
import { findFreePort } from '../../../dev/ports.ts';
import { startApi } from '../../../dev/service-parts.ts';
import { payoutIdFor } from '../../../src/shared/ids.ts';
import { asAKeyedClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { createHttp, type Http, type HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, freshKey, signature } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { addBankAccount, buildOwner, someKey, withdrawalWhen } from '../withdrawals/build-withdrawals.ts';
import { buildPayer, payoutBody, payoutWhen, readBalance, transfersOf } from './build-payouts.ts';

/** Clients that request the same payout concurrently, at two APIs in turn. */
let stack: Stack;
/** A second API process: it shares only the database and Temporal with the first. */
let second: Part;
let apis: Http[];
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  const port = await findFreePort();
  second = await startApi({ env: { ...stack.env, PORT: String(port) }, logFile: 'ignore' });
  apis = [stack.http, createHttp(`http://127.0.0.1:${port}`)];
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await second?.stop();
  await stack.stop();
}, 60_000);
beforeEach(async () => {
  partner = await buildPayer(stack);
});

const twins = isFullRun() ? 200 : 8;

const atOnce = (ask: (api: Http, index: number) => Promise<HttpAnswer>): Promise<HttpAnswer[]> =>
  Promise.all(
    Array.from({ length: twins }, (_, index) => asAKeyedClient(() => ask(apis[index % apis.length] as Http, index))),
  );
function payAt(api: Http, key: string, changes: object = {}): Promise<HttpAnswer> {
  const raw = JSON.stringify(payoutBody(changes));
  const headers = {
    'content-type': 'application/json',
    'x-partner-signature': signature(partner.signingSecret, raw),
    'x-idempotency-key': key,
  };
  return api.post('/v1/partners/payouts', undefined, { token: partner.apiKey, raw, headers });
}
const rowsOf = (id: string) => stack.em().execute<{ id: string }[]>('select id from payouts where id = ?', [id]);

describe(`${twins} concurrent requests for one payout, with the same key at two APIs`, () => {
  it('Concurrent payouts with one key at two APIs create one transfer and get equal responses', async () => {
    const key = freshKey();
    const answers = await atOnce((api) => payAt(api, key));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const id = payoutIdFor(partner.id, key);
    expect(answers[0]?.body.data.id).toBe(id);
    expect(await rowsOf(id)).toHaveLength(1);
    await payoutWhen(partner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toHaveLength(1);
    expect(await readBalance(partner)).toMatchObject({ available: '900000.0000', pending: '0.0000' });
  }, 120_000);

  itInFull(
    'Concurrent payouts with one key and two amounts create one payout; the other amount returns 409',
    async () => {
      const key = freshKey();
      const amounts = ['100000', '200000'];
      const answers = await atOnce((api, index) => payAt(api, key, { amount: amounts[(index >> 1) % 2] }));
      const told = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.amount);
      expect(new Set(told).size).toBe(1);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
        new Set(['409 REQUEST_IDEMPOTENCY_KEY_REUSED']),
      );
      const id = payoutIdFor(partner.id, key);
      await payoutWhen(partner, id, 'succeeded');
      expect((await transfersOf(stack, id)).map(({ amount }) => `${amount}.0000`)).toEqual([told[0]]);
      const available = `${1_000_000 - Number(told[0])}.0000`;
      expect(await readBalance(partner)).toMatchObject({ available, pending: '0.0000' });
    },
    120_000,
  );

  it('Concurrent payouts with one key all return 200 when the balance covers one payout', async () => {
    const poor = await buildPayer(stack, { available: '100000' });
    partner = poor;
    const key = freshKey();
    const answers = await atOnce((api) => payAt(api, key));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const id = answers[0]?.body.data.id;
    await payoutWhen(poor, id, 'succeeded');
    expect(await readBalance(poor)).toMatchObject({ available: '0.0000', pending: '0.0000' });
  }, 120_000);
});

it(`${twins} concurrent withdrawals with the same key at two APIs debit the money once`, async () => {
  const owner: BuiltUser = await buildOwner(stack, '100000');
  const bank_account_id = await addBankAccount(stack, owner);
  const options = { token: owner.token, headers: { 'idempotency-key': someKey() } };
  const path = `/v1/accounts/${owner.accountId}/withdrawals`;
  const answers = await atOnce((api) => api.post(path, { bank_account_id, amount: '100000' }, options));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
  const { id } = answers[0]?.body.data ?? {};
  await withdrawalWhen(stack, owner, id, 'succeeded');
  expect(await transfersOf(stack, id)).toHaveLength(1);
  expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
}, 120_000);
