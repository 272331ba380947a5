import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import { refuse } from '../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import { type DecisionKind, decisionLivesMs } from './decision.ts';

/** The decision of this id, locked until the transaction ends. Refuses with NOT_FOUND. It is locked before what it is about. */
export async function lockDecision(tx: EntityManager, id: string): Promise<Decision> {
  const decision = await tx.findOne(Decision, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return decision ?? refuse('NOT_FOUND', 'there is no such decision', { field: 'id' });
}

/** The same where a workflow is told to carry it out: refuses with REQUEST_INVALID one of another kind or subject. */
export async function lockDecisionAbout(
  tx: EntityManager,
  { id, kind, ...subject }: { id: string; kind: DecisionKind; payout_id?: string; receipt_id?: string },
): Promise<Decision> {
  const decision = await tx.findOne(Decision, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const isAboutIt =
    decision?.kind === kind &&
    Object.entries(subject).every(([key, value]) => decision[key as keyof typeof subject] === value);
  return isAboutIt
    ? decision
    : refuse('REQUEST_INVALID', 'there is no such decision about this', { field: 'decision_id' });
}

/** Whether a decision is too old to be approved or carried out, by the database's clock. */
export async function isTooOld(tx: EntityManager, { created_at }: Decision): Promise<boolean> {
  const now = await readDatabaseClock(tx);
  return now.getTime() - created_at.getTime() > decisionLivesMs;
}

export const tooOld = 'it is older than 24 hours';

interface Ending {
  status: 'carried_out' | 'rejected' | 'lapsed' | 'refused';
  /** Why it was refused or has lapsed. */
  reason?: string;
  /** Whose step ended it; unless said, who approved it, or nobody: time and the provider are no person. */
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
  await recordDecisionEnded(tx, decision, { actorId: actorId ?? null, requestId });
}

/** The event of a decision that has ended. */
export async function recordDecisionEnded(
  tx: EntityManager,
  { id, kind, status, reason }: Decision,
  { actorId, requestId = null }: { actorId: string | null; requestId?: string | null | undefined },
): Promise<void> {
  await recordEvent(tx, {
    event: `DECISION_${status.toUpperCase()}`,
    impact: 'HIGH',
    resourceType: 'decision',
    resourceId: id,
    actorId,
    requestId,
    data: { kind, ...(reason && { reason }) },
  });
}

/** Who is told to have carried it out: who approved it, or, where one was enough, who proposed it. */
export const actorOf = ({ approved_by, proposed_by }: Decision): string => approved_by ?? proposed_by;
