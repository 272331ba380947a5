import { systemAccounts } from '../../src/ledger/account.ts';
import { lockPayout, recordProviderStatus } from '../../src/payouts/record-provider-status.ts';
import { resolvePayout } from '../../src/payouts/resolve-payout.ts';
import { newId } from '../../src/shared/ids.ts';
import { balanceOf } from '../support/build.ts';
import { buildOperators, decide } from '../support/decide.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildStrandedCause } from './stranded-cause.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    worker: true,
    sandbox: true,
    env: { ERASURE_WAIT_HOURS: '0', WITHDRAWAL_FEE: '0' },
  });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

it('What the bank returns while two people pay out the rest of a cause covers its donation again, and the booking is refused', async () => {
  const operators = await buildOperators(stack);
  const { owner, donationId, donorAccountId, disbursements } = await buildStrandedCause(stack, operators, 240_000);
  const payoutId = disbursements[1] ?? '';
  expect(await balanceOf(stack, owner.accountId)).toBe('240000.0000');
  let booked: Promise<{ status: string; reason: string | null }> | undefined;
  await stack.owner().transactional(async (tx) => {
    // The booking has judged what is free when it waits for this; then the other disbursement comes back.
    await tx.execute(
      'insert into account_balances (account_id, shard, balance) select ?, n, 0 from generate_series(1, 16) n on conflict do nothing',
      [systemAccounts.gatewayClearing],
    );
    await tx.execute('select from account_balances where account_id = ? for update', [systemAccounts.gatewayClearing]);
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
    await resolvePayout(tx, stack.deps.sealer, { payoutId });
  });
  expect(await booked).toMatchObject({ status: 'refused', reason: 'it is more than is free on the account' });
  expect(await balanceOf(stack, owner.accountId)).toBe('400000.0000');
  await expectChecksEmpty(stack);
  const before = Number(await balanceOf(stack, donorAccountId));
  expect(await decide(stack, operators, { kind: 'refund_donation', donation_id: donationId })).toMatchObject({
    status: 'carried_out',
  });
  expect(Number(await balanceOf(stack, donorAccountId))).toBe(before + 400_000);
}, 60_000);
