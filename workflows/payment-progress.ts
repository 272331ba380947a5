import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { OpenedOrder } from '../src/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/payments/payment-order.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { searchAttributeKeys } from '../src/temporal/search-attributes.ts';

const minuteMs = 60_000;
/** How long to wait for a callback before asking the provider unasked: it grows, and then stays at an hour. */
const askingIntervalsMs = [1 * minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs] as const;

/** Milliseconds until the deadline (ISO 8601); 0 or less when it has passed. */
export const timeLeft = (deadline: string): number => Date.parse(deadline) - Date.now();

/** Milliseconds to wait in this round; 0 or less when the deadline (ISO 8601) has passed. */
export function askingWait(round: number, deadline: string): number {
  const interval = askingIntervalsMs[Math.min(round, askingIntervalsMs.length - 1)] ?? 60 * minuteMs;
  return Math.min(interval, timeLeft(deadline));
}

const stories: Record<PaymentOrderStatus, string> = {
  PENDING: 'Waiting for the provider to make an instrument',
  WAITING_PAYMENT: 'Waiting for the payer',
  PAID: 'Paid, and posted to the ledger',
  FAILED: 'Ended: refused by the provider or declined by the payer',
  EXPIRED: 'Ended: nobody paid before the deadline',
};

/** Tells operators, in the web UI and its search, what this payment waits for and what happens next. */
export function tellPayment(status: PaymentOrderStatus, { deadline }: OpenedOrder, waitMs: number): void {
  upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: status }]);
  const next =
    waitMs > 0
      ? ` Asks the provider after each callback, and unasked at ${formatWesternIndonesia(new Date(Date.now() + waitMs))}.`
      : '';
  setCurrentDetails(`${stories[status]}. Deadline ${formatWesternIndonesia(new Date(deadline))} (UTC+7).${next}`);
}
