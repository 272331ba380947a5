import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Cause } from './cause.entity.ts';
import type { CauseStatus } from './cause.ts';
import { changeCause } from './change-cause.ts';
import { lockCause } from './find-cause.ts';
import { isStopped } from './is-stopped.ts';

/** The actor and the request of a change, for its event. */
export interface ChangedBy {
  actorId: string | null;
  requestId: string | null;
}

/** Makes an `active` or `approved` cause `in_progress`, at its first disbursement. */
export async function startCause(tx: EntityManager, causeId: string, by: ChangedBy): Promise<void> {
  const cause = await lockCause(tx, causeId);
  if (cause.status === 'active' || cause.status === 'approved') await change(tx, cause, { status: 'in_progress' }, by);
}

/**
 * Makes a closed cause `completed` if all its money has reached the bank: at its last disbursement, or when it is
 * closed after that. A cause that has disbursed nothing keeps its status. A transaction that has not yet locked the
 * cause must call it last.
 */
export async function completeClosedCause(tx: EntityManager, causeId: string, by: ChangedBy): Promise<void> {
  // An open cause is only share-locked, as by donations; a later transaction that closes it sees these changes.
  const open = await tx.execute<unknown[]>(
    "select 1 from charitable_causes where id = ? and status not in ('deactivated', 'cancelled') for key share",
    [causeId],
  );
  if (open.length > 0) return;
  const cause = await lockCause(tx, causeId);
  if (cause.status !== 'deactivated' && cause.status !== 'cancelled') return;
  const [left] = await tx.execute<{ some: boolean; disbursed: boolean }[]>(
    `select disbursable_of_cause(?) > 0 or exists (select from withdrawals w join payouts p on p.id = w.id
       where w.cause_id = ? and p.status = 'pending') as some,
       exists (select from withdrawals w join payouts p on p.id = w.id
         where w.cause_id = ? and p.status = 'succeeded') as disbursed`,
    [causeId, causeId, causeId],
  );
  if (left?.some === false && left.disbursed) await change(tx, cause, { status: 'completed' }, by);
}

/**
 * Records that money reached a cause that may be closed: an earlier order was paid, or the bank returned a
 * disbursement. An open cause is only share-locked (as by `hold_causes`), so that donors do not wait for each other.
 * Call it last in the transaction.
 */
export async function receiveLateMoney(tx: EntityManager, causeId: string): Promise<void> {
  const [held] = await tx.execute<{ open: boolean }[]>('select hold_open_cause(?) as open', [causeId]);
  if (!held?.open) await reopenCompletedCause(tx, causeId);
}

/**
 * Undoes `completed` when money reaches a closed cause after its last disbursement: the bank returned it, or a donation
 * was paid late. Restores the earlier closed status, even if the platform has stopped or reinstated the cause since.
 */
async function reopenCompletedCause(tx: EntityManager, causeId: string): Promise<void> {
  const cause = await lockCause(tx, causeId);
  if (cause.status !== 'completed' && cause.stopped_from !== 'completed') return;
  const [completion] = await tx.execute<{ before: CauseStatus | null }[]>(
    `select data->>'previous_status' as before from events where resource_id = ?
       and resource_type = 'charitable_cause' and data->>'status' = 'completed'
       and data->>'stopped' is null order by id desc limit 1`,
    [causeId],
  );
  const before = completion?.before;
  if (before !== 'deactivated' && before !== 'cancelled') return;
  await change(tx, cause, isStopped(cause) ? { stopped_from: before } : { status: before });
}

async function change(
  tx: EntityManager,
  cause: Cause,
  changed: Pick<Partial<Cause>, 'status' | 'stopped_from'>,
  { actorId, requestId }: ChangedBy = { actorId: null, requestId: null },
): Promise<void> {
  const { status: previousStatus } = cause;
  await changeCause(tx, cause, changed);
  await recordAction(tx, { actorId, requestId }, 'RESOURCE_UPDATED', ['charitable_cause', cause.id], {
    ...changed,
    previous_status: previousStatus,
  });
}
