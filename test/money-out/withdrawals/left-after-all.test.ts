import { balanceOf, buildSuperAdmin } from '../../support/build.ts';
import { buildOperators, decide, secureSession } from '../../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import {
  addBankAccount,
  ask,
  buildWaitingDisbursement,
  readWithdrawal,
  type WaitingDisbursement,
  withdrawalWhen,
} from './build-withdrawals.ts';

/** Disbursements that failed here and left after all, and those whose owner may not move money any more. */
let stack: Stack;
let approvers: string[];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  approvers = await Promise.all(
    Array.from({ length: 2 }, async () => secureSession(stack, (await buildSuperAdmin(stack)).id)),
  );
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const approve = async ({ decisionId }: WaitingDisbursement, which: number) =>
  (await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token: approvers[which] ?? '' })).body.data;
/** What the owner is told on asking for this much, as a disbursement or else freely. */
async function take({ owner, causeId }: WaitingDisbursement, amount: string, isDisbursed: boolean) {
  const bank_account_id = await addBankAccount(stack, owner);
  const ofCause = isDisbursed ? { cause_id: causeId, purpose_note: 'Two pumps and their pipes' } : {};
  return (await ask(stack, owner, { bank_account_id, amount, ...ofCause })).status;
}

it('A failed disbursement that the provider has made after all is not made again, nor is its money free; it is booked', async () => {
  const it = await buildWaitingDisbursement(stack, '300000', '999999');
  await approve(it, 0);
  expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
  await withdrawalWhen(stack, it.owner, it.id, 'failed');
  await settleAtProvider(stack, it.id, 'SUCCEEDED');
  await eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [it.id]),
    ([row]) => row?.word === 'succeeded',
    60_000,
  );
  expect(await take(it, '100001', true)).toBe(400);
  expect(await take(it, '100001', false)).toBe(400);
  const decision = await decide(stack, await buildOperators(stack), { kind: 'book_transfer', payout_id: it.id });
  expect(decision).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, it.owner.accountId)).toBe('200000.0000');
  expect(await readWithdrawal(stack, it.owner, it.id)).toMatchObject({ booked_at: expect.any(String) });
  expect(await take(it, '100001', true)).toBe(400);
}, 120_000);

it('A disbursement whose owner is suspended when it would be sent lapses, and its evidence says why', async () => {
  const it = await buildWaitingDisbursement(stack);
  await approve(it, 0);
  await stack.em().execute("update users set status = 'suspended' where id = ?", [it.owner.id]);
  const decision = await approve(it, 1);
  expect(decision).toMatchObject({ status: 'lapsed', reason: 'the owner is suspended' });
  expect(decision.evidence.books).toMatchObject({ lapsed: 'the owner is suspended' });
  await stack.em().execute("update users set status = 'active' where id = ?", [it.owner.id]);
  expect(await withdrawalWhen(stack, it.owner, it.id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
  expect(await transfersOf(stack, it.id)).toEqual([]);
}, 120_000);
