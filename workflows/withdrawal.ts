import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WithdrawalInput } from '../src/money-out/withdrawals/withdrawal.ts';
import { type PayoutEnd, payOut } from './pay-out.ts';
import { firstStep } from './step-options.ts';

const { reserveWithdrawal } = proxyLocalActivities<Activities>(firstStep);

/** A withdrawal: ownership of the account and the daily limit are checked when the money is reserved. */
export function withdrawal({ payoutId, opening }: WithdrawalInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reserveWithdrawal({ payoutId, opening: opening ?? null }));
}
