import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { NewEvent } from '../../platform/events/event.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import type { InstrumentTable } from './obtain-instrument.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/**
 * The first look at the row, in milliseconds: a payment usually ends within a few hundred. Each further wait is longer.
 */
const firstLookMs = 100;
const longestLookMs = 1_000;

export interface Cancellation {
  table: InstrumentTable;
  id: string;
  /** Who asked for it; recorded in the same transaction as the request to cancel. */
  event: Pick<NewEvent, 'resourceType' | 'actorId' | 'requestId' | 'data'>;
  /** The payment's current status, read again. */
  statusNow: () => Promise<PaymentOrderStatus>;
  /** Wakes the workflow of the payment. */
  wake: () => Promise<void>;
}

/**
 * Cancels an open payment: its deadline becomes now, and its workflow, which is woken, expires the instrument at the
 * provider and asks once more before it ends. Waits at most ten seconds for that end and returns the status then; one
 * that is still open ends later by itself. A payment that has ended already is left as it is. Throws
 * SERVICE_UNAVAILABLE when Temporal cannot be reached: the cancellation is stored and the sweeps carry it out.
 */
export async function cancelInstrument(em: EntityManager, cancellation: Cancellation): Promise<PaymentOrderStatus> {
  const until = performance.now() + budgets.requests.cancellation;
  await storeCancellation(em, cancellation);
  const { statusNow } = cancellation;
  let status = await statusNow();
  if (isFinalOrder(status)) return status;
  await wake(cancellation);
  for (let wait = firstLookMs; !isFinalOrder(status) && performance.now() < until; ) {
    await sleep(wait);
    wait = Math.min(wait * 1.5, longestLookMs);
    status = await statusNow();
  }
  return status;
}

/**
 * Stores the cancellation of an open payment, once; the update locks the row against a settlement. Its workflow carries
 * it out once it is woken, by a sweep at the latest.
 */
export async function storeCancellation(
  em: EntityManager,
  { table, id, event }: Pick<Cancellation, 'table' | 'id' | 'event'>,
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

async function wake({ wake: hint }: Cancellation): Promise<void> {
  try {
    await hint();
  } catch (cause) {
    refuse('SERVICE_UNAVAILABLE', 'Temporal cannot be reached; the payment is cancelled once it is back', {
      cause,
      retryAfterSeconds: 2,
    });
  }
}
