import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { RefundInput } from '../src/money-out/refunds/refund.ts';
import { type PayoutEnd, payOut } from './pay-out.ts';
import { firstStep } from './step-options.ts';

const { reserveRefund } = proxyLocalActivities<Activities>(firstStep);

/** A refund of a partner's payment: how much of it can be refunded is checked when the money is reserved. */
export function paymentRefund({ payoutId, opening }: RefundInput): Promise<PayoutEnd> {
  return payOut({ payoutId, isNew: opening !== undefined }, reserveRefund({ payoutId, opening: opening ?? null }));
}
