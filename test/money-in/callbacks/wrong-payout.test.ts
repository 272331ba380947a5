import { randomUUID } from 'node:crypto';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readPayout,
  setFaults,
  settleAtProvider,
} from '../../money-out/payouts/build-payouts.ts';
import { buildPaid, refund, toBank } from '../../money-out/refunds/build-refunds.ts';
import { buildOwner, withdraw } from '../../money-out/withdrawals/build-withdrawals.ts';
import { atProvider } from '../../support/at-provider.ts';
import type { BuiltUser } from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Two pending payouts, withdrawals or refunds, and a callback about one under the other's reference. */
let stack: Stack;
let partner: BuiltPartner;
let owner: BuiltUser;
let paymentId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack, { available: '10000000' });
  owner = await buildOwner(stack, '10000000');
  paymentId = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BNI' });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  await setFaults(stack, { callbacks: { drop: true } });
});

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
/** Each requests a transfer of IDR 100,000, whose outcome the test determines. */
const kinds = {
  payout: () => pay(partner, { bank_account_number: magicAccount('131313') }),
  withdrawal: () => withdraw(stack, owner, { digits: '131313' }),
  refund: () => refund(partner, paymentId, { amount: '100000', ...toBank('131313') }),
};
type Kind = keyof typeof kinds;
async function under(kind: Kind = 'payout'): Promise<string> {
  const { id } = await kinds[kind]();
  await accepted(id);
  return id;
}
const statusOf = async (id: string) =>
  (await stack.em().execute<[{ status: string }]>('select status from payouts where id = ?', [id]))[0].status;
const statusWhen = (id: string, status: string) =>
  eventually(
    () => statusOf(id),
    (now) => now === status,
    60_000,
  );
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

const names = Object.keys(kinds) as Kind[];
const ends = [
  ['succeeded', 'SUCCEEDED'],
  ['failed', 'FAILED'],
] as const;
const crossed = names.flatMap((kind) =>
  names.flatMap((another) => ends.map((end) => [kind, another, ...end] as const)),
);
/** Covers each kind once pending and once final, with both outcomes. */
const standing = ['payout payout succeeded', 'withdrawal refund failed', 'refund withdrawal succeeded'];
it.each(casesOf(crossed, ([kind, another, status]) => standing.includes(`${kind} ${another} ${status}`)))(
  'A pending %s stays pending if a callback under its reference is about a %s that %s',
  async (kind, another, status, said) => {
    const [ended, other] = [await under(another), await under(kind)];
    await settleAtProvider(stack, ended, said);
    const transfer = await transferOf(ended);
    await callBack(other, transfer, said);
    await eventually(
      () => askedOf(other),
      (asked) => asked === 1,
    );
    await callBack(ended, transfer, said);
    await statusWhen(ended, status);
    expect(await statusOf(other)).toBe('pending');
    await settleAtProvider(stack, other, 'SUCCEEDED');
    await callBack(other, await transferOf(other), 'SUCCEEDED');
    await statusWhen(other, 'succeeded');
  },
  120_000,
);

it('A payout never takes the outcome of a transfer whose reference at the provider is different', async () => {
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
  // Now the provider lists the transfer with the payout's reference again.
  for (const sql of [moved, renamed]) atProvider(stack, sql, [id, transferId]);
  await callBack(id, { id: transferId, status: 'SUCCEEDED' }, 'SUCCEEDED');
  await payoutWhen(partner, id, 'succeeded');
}, 120_000);
