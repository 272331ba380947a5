import { randomUUID } from 'node:crypto';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readPayout,
  setFaults,
  settleAtProvider,
} from '../payouts/build-payouts.ts';
import { atProvider } from '../support/at-provider.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

/** Two payouts under way, and word of one under the other's reference. */
let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildPayer(stack);
  await setFaults(stack, { callbacks: { drop: true } });
});
afterEach(() => expectChecksEmpty(stack));

interface Transfer {
  id: string;
  status: string;
}
const transferOf = async (id: string): Promise<Transfer> =>
  (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body.transfers[0];
const accepted = (id: string) =>
  eventually(
    () => stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'accepted'", [id]),
    (rows) => rows.length === 1,
  );
async function under(): Promise<string> {
  const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await accepted(id);
  return id;
}
const callBack = (reference_id: string, transfer: Transfer, status: string) =>
  stack.post(
    '/v1/gateway/callbacks/xendit',
    { event: `payout.${status.toLowerCase()}`, data: { id: transfer.id, reference_id, amount: 100_000, status } },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
  );
const askedOf = async (id: string) =>
  (
    await stack
      .em()
      .execute<[{ asked: number }]>(
        'select count(*)::int as asked from gateway_callbacks where reference = ? and delivered_at is not null',
        [id],
      )
  )[0].asked;

it.each([
  ['succeeded', 'SUCCEEDED'],
  ['failed', 'FAILED'],
] as const)(
  'A payout is never %s by the word about another: that one ends, by its own',
  async (status, said) => {
    const [ended, other] = [await under(), await under()];
    await settleAtProvider(stack, ended, said);
    const transfer = await transferOf(ended);
    await callBack(other, transfer, said);
    await eventually(
      () => askedOf(other),
      (asked) => asked === 1,
    );
    await callBack(ended, transfer, said);
    await payoutWhen(partner, ended, status);
    expect(await readPayout(partner, other)).toMatchObject({ status: 'pending' });
    await settleAtProvider(stack, other, 'SUCCEEDED');
    await callBack(other, await transferOf(other), 'SUCCEEDED');
    await payoutWhen(partner, other, 'succeeded');
  },
  120_000,
);

it('A payout is never ended by a transfer that the provider keeps under another reference', async () => {
  const id = await under();
  const { id: transferId } = await transferOf(id);
  const moved = 'update transfers set reference_id = ? where id = ?';
  const renamed = "update transfers set document = json_set(document, '$.referenceId', ?) where id = ?";
  const stray = randomUUID();
  for (const sql of [moved, renamed]) atProvider(stack, sql, [stray, transferId]);
  await stack.sandbox.post('/sandbox/payouts/settle', { reference_id: stray, status: 'SUCCEEDED' });
  await callBack(id, { id: transferId, status: 'SUCCEEDED' }, 'SUCCEEDED');
  await eventually(
    () => stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'not known'", [id]),
    (rows) => rows.length === 1,
  );
  expect(await readPayout(partner, id)).toMatchObject({ status: 'pending', is_final: false });
  // It is there again, and is what was asked for.
  for (const sql of [moved, renamed]) atProvider(stack, sql, [id, transferId]);
  await callBack(id, { id: transferId, status: 'SUCCEEDED' }, 'SUCCEEDED');
  await payoutWhen(partner, id, 'succeeded');
}, 120_000);
