import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { findPendingWebhooks, recordWebhook } from '../../partners/webhooks/record-webhook.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { refuse } from '../../shared/errors.ts';
import { hasBatchLeft } from '../payouts/beyond-ours.ts';
import { PayoutBatch } from './payout-batch.entity.ts';
import { isFinalBatch, type PayoutBatchStanding } from './payout-batch.ts';
import { presentPayoutBatch } from './present-payout-batch.ts';

/** How late a batch's next check may be before the sweep restarts its workflow. */
const graceMs = 60_000;
const secondMs = 1000;
const longestWaitMs = 600_000;

/**
 * The next step of a batch: lapses it (`hasLapsed`), or completes it, with its webhook, once all its payouts are final;
 * otherwise returns when to check again: when it lapses, or after a tenth of the time since its approval. Idempotent.
 */
export async function lookAtPayoutBatch(
  em: EntityManager,
  sealer: Sealer,
  { batchId }: { batchId: string },
): Promise<PayoutBatchStanding> {
  return em.transactional(async (tx) => {
    const batch = await tx.findOne(PayoutBatch, { id: batchId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (batch === null) refuse('NOT_FOUND', 'The payout batch was not found');
    const now = await readDatabaseClock(tx);
    if (isFinalBatch(batch.status)) {
      const deliveryIds = await findPendingWebhooks(tx, { resourceType: 'payout_batch', resourceId: batchId });
      return standingOf(batch, { deliveryIds });
    }
    if (await hasLapsed(tx, batch, now)) return end(tx, sealer, batch, 'lapsed', now);
    if (batch.status === 'processing' && !(await hasOpenPayouts(tx, batchId))) {
      return end(tx, sealer, batch, 'completed', now);
    }
    const waitMs = waitOf(batch, now);
    batch.look_again_at = new Date(now.getTime() + waitMs + graceMs);
    await tx.flush();
    return standingOf(batch, { waitMs });
  });
}

/** Whether nobody approved the batch in time; false if transfers of it have left (`hasBatchLeft`). */
export const hasLapsed = async (
  tx: EntityManager,
  { id, status, lapses_at }: PayoutBatch,
  at: Date,
): Promise<boolean> => status === 'needs_approval' && lapses_at <= at && !(await hasBatchLeft(tx, id));

/** Milliseconds until the next check. */
function waitOf({ status, lapses_at, decided_at }: PayoutBatch, now: Date): number {
  const sinceMs = (at: Date) => now.getTime() - at.getTime();
  if (status === 'needs_approval') return lapses_at > now ? -sinceMs(lapses_at) : longestWaitMs;
  return Math.min(longestWaitMs, Math.max(secondMs, Math.round(sinceMs(decided_at ?? now) / 10)));
}

const standingOf = (
  { status }: PayoutBatch,
  { waitMs = 0, deliveryIds = [] }: Partial<Pick<PayoutBatchStanding, 'waitMs' | 'deliveryIds'>> = {},
): PayoutBatchStanding => ({ status, waitMs, deliveryIds });

async function hasOpenPayouts(tx: EntityManager, batchId: string): Promise<boolean> {
  const open = await tx.execute<unknown[]>("select 1 from payouts where batch_id = ? and status = 'pending' limit 1", [
    batchId,
  ]);
  return open.length > 0;
}

async function end(
  tx: EntityManager,
  sealer: Sealer,
  batch: PayoutBatch,
  status: 'lapsed' | 'completed',
  now: Date,
): Promise<PayoutBatchStanding> {
  batch.status = status;
  batch.finalized_at = batch.updated_at = now;
  batch.look_again_at = null;
  batch.version += 1;
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'payout_batch',
    resourceId: batch.id,
    actorId: null,
    requestId: batch.request_id ?? null,
    data: { partner_id: batch.partner_id, status },
  });
  if (status === 'lapsed') return standingOf(batch);
  const deliveryIds = await recordWebhook(tx, sealer, {
    partnerId: batch.partner_id,
    resourceType: 'payout_batch',
    resourceId: batch.id,
    version: batch.version,
    type: 'payout_batch.completed',
    at: now,
    data: await presentPayoutBatch(sealer, batch),
  });
  return standingOf(batch, { deliveryIds });
}
