import type { WebhookType } from './partner.ts';
import {
  cancelledPayment,
  completedBatch,
  declinedPayment,
  endpoint,
  failedPayoutId,
  instrument,
  newRefund,
  otherPayout,
  paidOut,
  paidPayment,
  refunded,
  slowPayoutId,
} from './story-resources.ts';

const told = (type: WebhookType, timestamp: string, version: number, data: object) => ({
  type,
  timestamp,
  data: { ...data, version },
});
/** The webhook of the payment that succeeds in the examples. */
export const paymentSucceeded = told('payment.succeeded', '2026-01-15T03:02:10.000Z', 1, paidPayment);

/** An example body of each type of webhook, with the resources of `story-resources.ts`. */
export const storyWebhooks: Readonly<Record<WebhookType, { data: object; test?: true }>> = {
  'payment.succeeded': paymentSucceeded,
  'payment.failed': told('payment.failed', '2026-01-15T03:07:40.000Z', 1, declinedPayment),
  'payment.expired': told('payment.expired', '2026-01-15T03:08:40.000Z', 1, cancelledPayment),
  'payout.succeeded': told('payout.succeeded', '2026-01-15T03:10:06.000Z', 1, paidOut),
  'payout.failed': told('payout.failed', '2026-01-15T03:13:06.000Z', 1, {
    ...otherPayout(failedPayoutId, 'payout-2026-0008'),
    status: 'failed',
    is_final: true,
    created_at: '2026-01-15T03:13:04.000Z',
    finalized_at: '2026-01-15T03:13:06.000Z',
    failure_code: 'INVALID_DESTINATION',
  }),
  'payout.reversed': told('payout.reversed', '2026-01-16T04:20:00.000Z', 2, {
    ...paidOut,
    status: 'reversed',
    finalized_at: '2026-01-16T04:20:00.000Z',
  }),
  'refund.succeeded': told('refund.succeeded', '2026-01-16T03:20:16.000Z', 1, refunded),
  'refund.failed': told('refund.failed', '2026-01-16T03:20:16.000Z', 1, {
    ...newRefund,
    status: 'failed',
    is_final: true,
    failure_code: 'INVALID_DESTINATION',
    finalized_at: '2026-01-16T03:20:16.000Z',
  }),
  'payout_batch.completed': told('payout_batch.completed', '2026-01-15T03:40:09.000Z', 1, completedBatch),
  'payment.available': told('payment.available', '2026-01-15T03:02:10.000Z', 2, paidPayment),
  'payment.unmatched': told('payment.unmatched', '2026-01-15T05:41:00.000Z', 3, {
    ...paidPayment,
    unmatched: { amount: '500000.0000', reason: 'double' },
  }),
  'instrument.unmatched': told('instrument.unmatched', '2026-01-15T05:42:00.000Z', 1, {
    ...instrument,
    unmatched: { amount: '3000.0000', reason: 'wrong_amount' },
  }),
  'payout.delayed': told('payout.delayed', '2026-01-15T03:25:02.000Z', 1, {
    ...otherPayout(slowPayoutId, 'payout-2026-0009'),
    created_at: '2026-01-15T03:15:01.000Z',
  }),
  'endpoint.test': { ...told('endpoint.test', '2026-01-14T02:31:00.000Z', 1, endpoint), test: true },
};
