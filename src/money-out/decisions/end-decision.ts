import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { refuseEnded } from '../../people/identity/end-tokens.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { errorCodeOf, refuse } from '../../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import { decisionLivesHours } from './decision.ts';

/** The decision with this id, locked until the transaction ends, before its subject is. Throws NOT_FOUND. */
export async function lockDecision(tx: EntityManager, id: string): Promise<Decision> {
  const decision = await tx.findOne(Decision, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return decision ?? refuse('NOT_FOUND', 'the decision was not found', { field: 'id' });
}

type DecidingPermission = 'propose-decision' | 'approve-decision';

/** Whether this is an active user of the platform with the permission, which they keep until the transaction ends. */
async function holdOperator(tx: EntityManager, userId: string, permission: DecidingPermission): Promise<boolean> {
  const [row] = await tx.execute<{ is: boolean }[]>('select hold_operator(?, ?) as is', [userId, permission]);
  return row?.is === true;
}

/**
 * For an operator who has waited, for a lock or for the provider: throws FORBIDDEN when they have lost the permission
 * meanwhile or were not admitted to approve, and UNAUTHENTICATED when their session has ended.
 */
export async function requireOperator(
  tx: EntityManager,
  caller: Pick<Caller, 'userId' | 'token'>,
  permission: DecidingPermission,
): Promise<void> {
  const mayDecide = await holdOperator(tx, caller.userId, permission);
  if (!mayDecide) await refuseUnlessAdmitted(tx, caller, permission);
  if (!mayDecide) refuse('FORBIDDEN', 'You may no longer decide');
  await refuseEnded(tx, caller);
}

/** Whoever is suspended is told so, and not of the session, which ended with it; whoever is active is first told of that. */
async function refuseUnlessAdmitted(
  tx: EntityManager,
  caller: Pick<Caller, 'userId' | 'token'>,
  permission: DecidingPermission,
): Promise<void> {
  const [user] = await tx.execute<{ is_active: boolean; is_admitted: boolean }[]>(
    "select status = 'active' as is_active, approver_since is not null as is_admitted from users where id = ?",
    [caller.userId],
  );
  if (user?.is_active !== true) refuse('FORBIDDEN', 'You may no longer decide');
  await refuseEnded(tx, caller);
  if (permission === 'approve-decision' && !user.is_admitted) {
    refuse('FORBIDDEN', 'Two approvers have to admit you first, by a decision admit_approver');
  }
}

/**
 * Why a decision can no longer be approved or carried out, whatever its subject: it is too old, by the database's
 * clock, or one of its people has lost the permission. Null while it can.
 */
export async function whyPowerless(
  tx: EntityManager,
  { kind, created_at, proposed_by, first_approved_by, approved_by }: Decision,
): Promise<string | null> {
  const now = await readDatabaseClock(tx);
  const hours = decisionLivesHours(kind);
  if (now.getTime() - created_at.getTime() > hours * 3_600_000) return `it is older than ${hours} hours`;
  if (kind !== 'disburse' && !(await holdOperator(tx, proposed_by, 'propose-decision')))
    return 'the proposer may no longer decide';
  if (first_approved_by && !(await holdOperator(tx, first_approved_by, 'approve-decision')))
    return 'the first approver may no longer decide';
  if (approved_by && !(await holdOperator(tx, approved_by, 'approve-decision')))
    return 'the approver may no longer decide';
  return null;
}

/** SQLSTATE for a change that two people have not decided, or whose decision is no longer valid. */
const undecided = 'AM010';

/**
 * Runs the work a second time when the database finds, a moment after our check, that the decision is too old or one of
 * its people has lost the permission: the second check then reports it.
 */
export async function judgingAgain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (errorCodeOf(error) !== undecided) throw error;
    return work();
  }
}

interface Ending {
  status: 'carried_out' | 'rejected' | 'lapsed' | 'refused';
  /** Why it was refused or lapsed. */
  reason?: string;
  /** Who ended it; defaults to the approver, or to nobody when time or the provider ended it. */
  actorId?: string;
  requestId?: string | null;
}

/** Ends a pending decision in the caller's transaction, with its event. */
export async function endDecision(
  tx: EntityManager,
  decision: Decision,
  { status, reason, actorId = decision.approved_by ?? undefined, requestId = null }: Ending,
): Promise<void> {
  decision.status = status;
  if (reason !== undefined) decision.reason = reason;
  if (status === 'rejected') decision.rejected_by = actorId;
  await tx.flush();
  // The sweep wakes the withdrawal that waits for it, if nothing else does.
  if (decision.withdrawal_id) {
    await tx.execute("update payouts set look_again_at = now() where id = ? and status = 'pending'", [
      decision.withdrawal_id,
    ]);
  }
  const data = { kind: decision.kind, ...(decision.reason && { reason: decision.reason }) };
  await recordDecision(tx, decision.id, `DECISION_${status.toUpperCase()}`, {
    data,
    actorId: actorId ?? null,
    requestId,
  });
}

/** An event of a decision. */
export const recordDecision = (
  tx: EntityManager,
  id: string,
  event: string,
  { data, actorId, requestId = null }: { data: object; actorId: string | null; requestId?: string | null | undefined },
): Promise<void> =>
  recordEvent(tx, { event, impact: 'HIGH', resourceType: 'decision', resourceId: id, actorId, requestId, data });

/** Who counts as having carried it out: the approver, or the proposer where one person was enough. */
export const actorOf = ({ approved_by, proposed_by }: Decision): string => approved_by ?? proposed_by;
