import { upsertSearchAttributes } from '@temporalio/workflow';
import type { OpenedOrder } from '../src/money-in/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/money-in/payments/payment-order.ts';
import { paymentWaitMs, settlingBoundMs, settlingWaitMs } from '../src/shared/asking-intervals.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { searchAttributeKeys } from '../src/wiring/temporal/search-attributes.ts';
import { tellDetails } from './go-on.ts';

/** Milliseconds until the deadline (ISO 8601); 0 or less if it has passed. */
export const timeLeft = (deadline: string): number => Date.parse(deadline) - Date.now();

/** Milliseconds to wait in this round; 0 or less if the deadline (ISO 8601) has passed. */
export const askingWait = (round: number, deadline: string, callbacksCome: boolean): number =>
  Math.min(paymentWaitMs(round, { callbacksCome }), timeLeft(deadline));

/** `settlingWaitMs` as of now; the deadline is ISO 8601. */
export const settlingWait = (since: number, deadline: string): number =>
  settlingWaitMs({ since, deadline: Date.parse(deadline), now: Date.now() });

const stories: Record<PaymentOrderStatus, string> = {
  PENDING: 'Waiting for the provider to create an instrument',
  WAITING_PAYMENT: 'Waiting for the payer',
  PAID: 'Paid, and posted to the ledger',
  FAILED: 'Ended: refused by the provider or declined by the payer',
  EXPIRED: 'Ended: its amount was not paid before the deadline',
};

export interface PaymentWait {
  /** Milliseconds until the next poll without a callback. */
  waitMs: number;
  /** Since when the payment has been settling, in epoch milliseconds; null if it is not. */
  settlingSince: number | null;
}

const local = (instant: number): string => formatWesternIndonesia(new Date(instant));

/** The state by which operators search: `OPERATOR` means that a payment has been settling for too long. */
function stateOf(status: PaymentOrderStatus, settlingSince: number | null): string {
  if (settlingSince === null) return status;
  return Date.now() - settlingSince < settlingBoundMs ? 'SETTLING' : 'OPERATOR';
}

/**
 * Shows operators, in the web UI and its search, what this payment waits for and what happens next; `shown` is the
 * current search attribute.
 */
export function tellPayment(
  status: PaymentOrderStatus,
  { deadline }: OpenedOrder,
  wait?: PaymentWait,
  shown?: PaymentOrderStatus,
): void {
  const { waitMs = 0, settlingSince = null } = wait ?? {};
  const state = stateOf(status, settlingSince);
  if (state !== shown) upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: state }]);
  const story =
    settlingSince === null
      ? stories[status]
      : `Paid or pending at the provider since ${local(settlingSince)} (UTC+7), or no longer listed there, and no ` +
        'payment can be settled. It stays open past its deadline until the provider lists the money or a final status';
  const next =
    waitMs > 0 ? ` Asks the provider after each callback, and at the latest at ${local(Date.now() + waitMs)}.` : '';
  tellDetails(`${story}. Deadline ${local(Date.parse(deadline))} (UTC+7).${next}`);
}
