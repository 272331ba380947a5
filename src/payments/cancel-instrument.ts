import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { NewEvent } from '../events/event.ts';
import { recordEvent } from '../events/record-event.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import type { InstrumentTable } from './obtain-instrument.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/** When the row is looked at first, in milliseconds, as a payment ends within a few hundred; each look waits longer. */
const firstLookMs = 100;
const longestLookMs = 1_000;

export interface Cancellation {
  table: InstrumentTable;
  id: string;
  /** Who asked for it; with the wish, in one transaction. */
  event: Pick<NewEvent, 'resourceType' | 'actorId' | 'requestId' | 'data'>;
  /** What has become of it, read anew. */
  statusNow: () => Promise<PaymentOrderStatus>;
  /** Wakes the workflow of the payment. */
  wake: () => Promise<void>;
}

/**
 * Cancels an open payment: from now on its deadline has come, and its workflow, which is woken, expires its instrument at
 * the provider and asks once more before it ends. Waits for that end, at most ten seconds, and answers the status then:
 * one that is still open ends later by itself. One that has ended already is left as it is. Refuses with
 * SERVICE_UNAVAILABLE when Temporal cannot be reached: the wish is kept then, and the sweeps see to it.
 */
export async function cancelInstrument(em: EntityManager, cancellation: Cancellation): Promise<PaymentOrderStatus> {
  const until = performance.now() + budgets.requests.cancellation;
  await writeDown(em, cancellation);
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

/** The wish, once, of a payment that is open; its row is locked against whoever settles it. */
async function writeDown(em: EntityManager, { table, id, event }: Cancellation): Promise<void> {
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
