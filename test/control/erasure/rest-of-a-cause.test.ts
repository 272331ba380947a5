import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { lockPayout, recordProviderStatus } from '../../../src/money-out/payouts/record-provider-status.ts';
import { resolvePayout } from '../../../src/money-out/payouts/resolve-payout.ts';
import { newId } from '../../../src/shared/ids.ts';
import { settleAtProvider } from '../../money-out/payouts/build-payouts.ts';
import { balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildStrandedCause, erase } from './stranded-cause.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

itInFull(
  'A payout of a cause’s remaining money is refused if a disbursement is returned during it; then a refund works',
  async () => {
    const { owner, donationId, donorAccountId, disbursements } = await buildStrandedCause(stack, operators, 240_000);
    const payoutId = disbursements[1] ?? '';
    expect(await balanceOf(stack, owner.accountId)).toBe('240000.0000');
    let booked: Promise<{ status: string; reason: string | null }> | undefined;
    await stack.owner().transactional(async (tx) => {
      // The booking has read the free amount and waits for this lock; then the bank returns the other disbursement.
      await tx.execute(
        'insert into account_balances (account_id, shard, balance) select ?, n, 0 from generate_series(1, 16) n on conflict do nothing',
        [systemAccounts.gatewayClearing],
      );
      await tx.execute('select from account_balances where account_id = ? for update', [
        systemAccounts.gatewayClearing,
      ]);
      booked = decide(stack, operators, {
        kind: 'book_external',
        amount: '-240000',
        reference: `paid ${newId()}`,
        account_id: owner.accountId,
      });
      await untilLocked(stack, { text: 'book_external' });
      const payout = await lockPayout(tx, payoutId);
      await recordProviderStatus(
        tx,
        payout,
        { said: 'reversed', providerTransferId: newId(), failureCode: null },
        new Date(),
      );
      await resolvePayout(tx, stack.deps, { payoutId });
    });
    expect(await booked).toMatchObject({ status: 'refused', reason: 'exceeds the available balance of the account' });
    expect(await balanceOf(stack, owner.accountId)).toBe('400000.0000');
    await expectChecksEmpty(stack);
    const before = Number(await balanceOf(stack, donorAccountId));
    expect(await decide(stack, operators, { kind: 'refund_donation', donation_id: donationId })).toMatchObject({
      status: 'carried_out',
    });
    expect(Number(await balanceOf(stack, donorAccountId))).toBe(before + 400_000);
  },
  60_000,
);

it('Money that operators paid out of a cause no longer counts toward refunds of its donations', async () => {
  const { owner, causeId, donationId, disbursements } = await buildStrandedCause(stack, operators, 240_000);
  const book = (amount: string) =>
    decide(stack, operators, {
      kind: 'book_external',
      amount,
      reference: `paid ${newId()}`,
      account_id: owner.accountId,
    });
  expect(await balanceOf(stack, owner.accountId)).toBe('240000.0000');
  expect(await book('-200000')).toMatchObject({ status: 'carried_out' });
  await settleAtProvider(stack, disbursements[1] ?? '', 'REVERSED');
  await eventually(
    () => balanceOf(stack, owner.accountId),
    (balance) => balance === '200000.0000',
  );
  await expectChecksEmpty(stack);
  const [left] = await stack.em().execute('select disbursable_of_cause(?)::text as amount', [causeId]);
  expect(left).toEqual({ amount: '200000.0000' });
  const back = await propose(stack, operators, { kind: 'refund_donation', donation_id: donationId });
  expect(back.body.message).toBe('donation_id: the account that holds it no longer covers it');
  expect(await book('-200000')).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
}, 60_000);

it('A stopped cause cannot be reinstated after its owner was erased', async () => {
  const owner = await buildIndividual(stack);
  const { id } = await buildActiveCause(stack, owner);
  const { token } = await buildSuperAdmin(stack);
  const decideOn = (what: string) =>
    stack.post(`/v1/charitable-causes/${id}/${what}`, { reason: 'A mistake' }, { token });
  expect((await decideOn('stop')).status).toBe(200);
  await erase(stack, operators, owner);
  const { status, body } = await decideOn('reinstate');
  expect([status, body.message]).toEqual([403, expect.stringContaining('The user has been erased')]);
}, 60_000);
