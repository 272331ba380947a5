import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PartnerPayoutInput } from '../src/money-out/payouts/payout.ts';
import { type PayoutEnd, payOut } from './pay-out.ts';
import { firstStep } from './step-options.ts';

const { reservePayout } = proxyLocalActivities<Activities>(firstStep);

/** A partner's payout: its limits and available balance are checked when the money is reserved. */
export function partnerPayout({ payoutId, opening }: PartnerPayoutInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reservePayout({ payoutId, opening: opening ?? null }));
}
