import type { EntityManager } from '@mikro-orm/postgresql';
import type { Cause } from '../causes/cause.entity.ts';
import type { CauseStatus } from '../causes/cause.ts';
import { lockCause } from '../causes/find-cause.ts';
import { recordEvent } from '../events/record-event.ts';

/** The first disbursement of a cause that takes donations makes it `in_progress`. */
export async function startCause(tx: EntityManager, causeId: string): Promise<void> {
  const cause = await lockCause(tx, causeId);
  if (cause.status === 'active' || cause.status === 'approved') await move(tx, cause, 'in_progress');
}

/** This may have been the last disbursement of a cause that was closed before: then the cause becomes `completed`. */
export async function completeClosedCause(tx: EntityManager, causeId: string): Promise<void> {
  const cause = await lockCause(tx, causeId);
  if (cause.status !== 'deactivated' && cause.status !== 'cancelled') return;
  const [left] = await tx.execute<{ some: boolean }[]>(
    `select disbursable_of_cause(?) > 0 or exists (select from withdrawals w join payouts p on p.id = w.id
       where w.cause_id = ? and p.status = 'pending') as some`,
    [causeId, causeId],
  );
  if (left?.some === false) await move(tx, cause, 'completed');
}

async function move(tx: EntityManager, cause: Cause, status: CauseStatus): Promise<void> {
  const { status: previousStatus } = cause;
  tx.assign(cause, { status, updated_at: new Date() });
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'charitable_cause',
    resourceId: cause.id,
    actorId: null,
    requestId: null,
    data: { status, previous_status: previousStatus },
  });
}
