import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { refuseEnded } from '../../people/identity/end-tokens.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { errorCodeOf, refuse } from '../../shared/errors.ts';
import { Decision } from './decision.entity.ts';

/** The decision with this id, locked until the transaction ends, before its subject is. Throws NOT_FOUND. */
export async function lockDecision(tx: EntityManager, id: string): Promise<Decision> {
  const decision = await tx.findOne(Decision, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return decision ?? refuse('NOT_FOUND', 'the decision was not found', { field: 'id' });
}

/**
 * For an operator who has waited, for a lock or for the provider: throws FORBIDDEN when they have lost the permission
 * meanwhile or were not admitted to approve, and UNAUTHENTICATED when their session has ended. They keep the permission
 * until the transaction ends. Whoever is suspended is told so, and not of the session, which ended with it.
 */
export async function requireOperator(
  tx: EntityManager,
  caller: Pick<Caller, 'userId' | 'token'>,
  permission: 'propose-decision' | 'approve-decision',
): Promise<void> {
  const [held] = await tx.execute<{ may: boolean }[]>('select hold_operator(?, ?) as may', [caller.userId, permission]);
  const [user] = await tx.execute<{ is_active: boolean; is_admitted: boolean }[]>(
    "select status = 'active' as is_active, approver_since is not null as is_admitted from users where id = ?",
    [caller.userId],
  );
  if (!user?.is_active) refuse('FORBIDDEN', 'You may no longer decide');
  await refuseEnded(tx, caller);
  if (held?.may) return;
  const isBarred = permission === 'approve-decision' && !user.is_admitted;
  const admission = 'Two approvers have to admit you first, by a decision admit_approver';
  refuse('FORBIDDEN', isBarred ? admission : 'You may no longer decide');
}

/** Why a decision has lost its force, whatever its subject, as the database judges it; null while it has it. */
export async function whyPowerless(tx: EntityManager, { id }: Decision): Promise<string | null> {
  const [row] = await tx.execute<{ why: string | null }[]>(
    'select why_powerless(d) as why from decisions d where d.id = ?',
    [id],
  );
  return row?.why ?? null;
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
