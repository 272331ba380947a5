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

/** Milliseconds until the first read; most payments become final within a few hundred. Each further wait is longer. */
const firstLookMs = 100;
const longestLookMs = 1_000;

export interface Cancellation {
  table: InstrumentTable;
  id: string;
  /** The event of the request, recorded in the transaction that stores the cancellation. */
  event: Pick<NewEvent, 'resourceType' | 'actorId' | 'requestId' | 'data'>;
  wake: () => Promise<void>;
}

/**
 * Cancels an open payment: moves its deadline to now and signals its workflow, which expires the instrument and asks
 * the provider once more before closing it. Returns the status after at most ten seconds; final payments stay
 * unchanged. Throws SERVICE_UNAVAILABLE if Temporal is unreachable: a sweep then carries out the stored cancellation.
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

/** Stores a cancellation once; the lock keeps the row from settling. The workflow or a sweep carries it out. */
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
 * Cancels an order for its payer and returns the final order. Throws NOT_FOUND, FORBIDDEN for others, REQUEST_INVALID
 * if paid, and SERVICE_UNAVAILABLE while the provider has not cancelled it: it will still become final.
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
