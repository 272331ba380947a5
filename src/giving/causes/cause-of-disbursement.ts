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

/** The first disbursement of a cause that is `active` or `approved` makes it `in_progress`. */
export async function startCause(tx: EntityManager, causeId: string, by: ChangedBy): Promise<void> {
  const cause = await lockCause(tx, causeId);
  if (cause.status === 'active' || cause.status === 'approved') await change(tx, cause, { status: 'in_progress' }, by);
}

/**
 * A closed cause is `completed` when all its money has reached the bank: with its last disbursement, or when it is closed
 * after that. One that has disbursed nothing stays as it was closed. The last lock of the caller's transaction, unless
 * that holds it already.
 */
export async function completeClosedCause(tx: EntityManager, causeId: string, by: ChangedBy): Promise<void> {
  // An open cause is only share-locked, as by donations: a transaction that closes it later sees this one's changes.
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
 * Money has come to a cause that may be closed: an order that was opened before is paid, or the bank has returned a
 * disbursement. Where it takes donations its status is only held (as by `hold_causes`), so that donors do not wait for
 * each other. The last lock of the caller's transaction.
 */
export async function receiveLateMoney(tx: EntityManager, causeId: string): Promise<void> {
  const [held] = await tx.execute<{ open: boolean }[]>('select hold_open_cause(?) as open', [causeId]);
  if (!held?.open) await reopenCompletedCause(tx, causeId);
}

/**
 * Money has come after the last disbursement, which made a closed cause `completed`: the bank has returned it, or a
 * donation was paid late. The cause is closed as it was before, even if the platform has stopped it since; stopping and
 * reinstating it does not affect that.
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
