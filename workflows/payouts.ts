import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PartnerPayoutInput } from '../src/money-out/payouts/payout.ts';
import type { RefundInput } from '../src/money-out/refunds/refund.ts';
import type { WithdrawalInput } from '../src/money-out/withdrawals/withdrawal.ts';
import { type PayoutEnd, payOut } from './pay-out.ts';
import { firstStep } from './step-options.ts';

const { reservePayout, reserveRefund, reserveWithdrawal } = proxyLocalActivities<Activities>(firstStep);

/** A partner's payout: the reservation checks its limits and available balance. */
export function partnerPayout({ payoutId, opening }: PartnerPayoutInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reservePayout({ payoutId, opening: opening ?? null }));
}

/** A refund of a partner's payment: the reservation checks how much of it can be refunded. */
export function paymentRefund({ payoutId, opening }: RefundInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reserveRefund({ payoutId, opening: opening ?? null }));
}

/** A withdrawal: the reservation checks ownership of the account and the daily limit. */
export function withdrawal({ payoutId, opening }: WithdrawalInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reserveWithdrawal({ payoutId, opening: opening ?? null }));
}
