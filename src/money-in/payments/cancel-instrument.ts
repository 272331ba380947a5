import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { NewEvent } from '../../platform/events/event.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { getOrder, type OrderWithChannel } from './find-orders.ts';
import { type InstrumentTable, readInstrument } from './instrument-row.ts';
import type { GatewayPaymentWorkflows } from './payment-contract.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/**
 * The wait before the first read of the row, in milliseconds: a payment usually becomes final within a few hundred.
 * Each further wait is longer.
 */
const firstLookMs = 100;
const longestLookMs = 1_000;

export interface Cancellation {
  table: InstrumentTable;
  id: string;
  /** Who requested it; recorded in the same transaction as the request to cancel. */
  event: Pick<NewEvent, 'resourceType' | 'actorId' | 'requestId' | 'data'>;
  wake: () => Promise<void>;
}

/**
 * Cancels an open payment: its deadline becomes now, and its workflow, which is signalled, expires the instrument at
 * the provider and asks once more before it closes the payment. Waits at most ten seconds for that and returns the
 * status then; a payment that is still open is closed later. A final payment is not changed. Throws SERVICE_UNAVAILABLE
 * when Temporal is unreachable: the cancellation is stored and the sweeps carry it out.
 */
export async function cancelInstrument(
  em: EntityManager,
  { wake, ...cancellation }: Cancellation,
): Promise<PaymentOrderStatus> {
  const until = performance.now() + budgets.requests.cancellation;
  await storeCancellation(em, cancellation);
  const statusNow = async () => (await readInstrument(em, cancellation.table, cancellation.id)).status;
  let status = await statusNow();
  if (isFinalOrder(status)) return status;
  await wake().catch((cause: unknown) =>
    refuse('SERVICE_UNAVAILABLE', 'Temporarily unavailable; the payment will be cancelled', {
      cause,
      retryAfterSeconds: 2,
    }),
  );
  for (let wait = firstLookMs; !isFinalOrder(status) && performance.now() < until; ) {
    await sleep(wait);
    wait = Math.min(wait * 1.5, longestLookMs);
    status = await statusNow();
  }
  return status;
}

/**
 * Stores the cancellation of an open payment, once; the update locks the row against a settlement. Its workflow carries
 * it out once signalled, by a sweep at the latest.
 */
export async function storeCancellation(
  em: EntityManager,
  { table, id, event }: Omit<Cancellation, 'wake'>,
): Promise<void> {
  await em.transactional(async (tx) => {
    const cancelled = await tx.execute<unknown[]>(
      `update ${table} set cancelled_at = now(), updated_at = now()
       where id = ? and status in ('PENDING', 'WAITING_PAYMENT') and cancelled_at is null returning id`,
      [id],
    );
    if (cancelled.length === 0) return;
    await recordEvent(tx, { ...event, event: 'RESOURCE_UPDATED', resourceId: id });
  });
}

/**
 * Cancels an order for its payer, as `cancelInstrument` does, and returns it once it is final. Throws NOT_FOUND,
 * FORBIDDEN for anybody but its payer, REQUEST_INVALID when it is paid, and SERVICE_UNAVAILABLE while the provider has
 * not cancelled it: it will still become final, cancelled or paid.
 */
export async function cancelOrder(
  em: EntityManager,
  workflows: Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
  { caller, orderId, requestId }: { caller: Caller; orderId: string; requestId: string },
): Promise<OrderWithChannel> {
  await getOrder(em, caller, orderId);
  const status = await cancelInstrument(em, {
    table: 'payment_orders',
    id: orderId,
    event: { resourceType: 'payment_order', actorId: caller.userId, requestId, data: { cancelled: true } },
    wake: () => workflows.hintGatewayPayment(orderId),
  });
  if (status === 'PAID') refuse('REQUEST_INVALID', 'the order is paid', { field: 'payment_order_id' });
  if (!isFinalOrder(status)) {
    refuse('SERVICE_UNAVAILABLE', 'The provider has not cancelled the payment yet: poll the order, or try again', {
      retryAfterSeconds: 5,
    });
  }
  return getOrder(em, caller, orderId);
}
