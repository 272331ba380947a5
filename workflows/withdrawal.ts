import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WithdrawalInput } from '../src/withdrawals/withdrawal.ts';
import { type PayoutEnd, payOut } from './pay-out.ts';
import { firstStep } from './step-options.ts';

const { reserveWithdrawal } = proxyLocalActivities<Activities>(firstStep);

/** A withdrawal: whose money it is, and the day's limit, are looked at when it is reserved. */
export function withdrawal({ payoutId, opening }: WithdrawalInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reserveWithdrawal({ payoutId, opening: opening ?? null }));
}
