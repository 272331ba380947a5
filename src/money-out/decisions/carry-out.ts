import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { refuseEnded } from '../../people/identity/end-tokens.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import type { Caller } from '../../shared/caller.ts';
import { errorCodeOf, refuse } from '../../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import type { DecisionKind } from './decision.ts';
import { getDecision } from './find-decisions.ts';
import type { CarryingOut, DecisionPorts } from './handling.ts';

/** Locks a decision before its subject, until the transaction ends. Throws NOT_FOUND. */
export async function lockDecision(tx: EntityManager, id: string): Promise<Decision> {
  const decision = await tx.findOne(Decision, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return decision ?? refuse('NOT_FOUND', 'the decision was not found', { field: 'id' });
}

/**
 * Rechecks an operator after a wait. Throws FORBIDDEN without the permission or admission, or after a suspension, and
 * UNAUTHENTICATED if the session ended otherwise. The permission then holds until the transaction ends.
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
  const admission = 'Two people must admit you first, by a decision admit_approver';
  refuse('FORBIDDEN', isBarred ? admission : 'You may no longer decide');
}

/** SQLSTATE of a change without a decision of two people, or with one that is no longer valid. */
const undecided = 'AM010';

/**
 * Retries once if the database finds a decision void just after our check: the second check then returns the reason.
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
  reason?: string;
  /** Who closed it. Default: the approver, or nobody if it lapsed or the provider settled it. */
  actorId?: string;
  requestId?: string | null;
}

/** Closes a pending decision in the caller's transaction, with its event. */
export async function endDecision(
  tx: EntityManager,
  decision: Decision,
  { status, reason, actorId = decision.approved_by ?? undefined, requestId = null }: Ending,
): Promise<void> {
  decision.status = status;
  if (reason !== undefined) decision.reason = reason;
  if (status === 'rejected') decision.rejected_by = actorId;
  await tx.flush();
  // Makes the sweep wake the withdrawal that waits for this decision, in case the signal is lost.
  if (decision.withdrawal_id) {
    await tx.execute("update payouts set look_again_at = now() where id = ? and status = 'pending'", [
      decision.withdrawal_id,
    ]);
  }
  const data = { kind: decision.kind, ...(decision.reason && { reason: decision.reason }) };
  const by = { actorId: actorId ?? null, requestId };
  await recordAction(tx, by, [`DECISION_${status.toUpperCase()}`, 'HIGH'], ['decision', decision.id], data);
}

/** Who carried it out: the approver, or the proposer if one person was enough. */
export const actorOf = ({ approved_by, proposed_by }: Decision): string => approved_by ?? proposed_by;

/** Why a decision is void, by its age or people (judged by the database) or its changed subject; null if valid. */
export async function whyVoid(
  tx: EntityManager,
  { decisionKinds }: DecisionPorts,
  decision: Decision,
  heard?: unknown,
): Promise<string | null> {
  const powerless = 'select why_powerless(d) as why from decisions d where d.id = ?';
  const [row] = await tx.execute<{ why: string | null }[]>(powerless, [decision.id]);
  return row?.why ?? decisionKinds[decision.kind].whyMoved(tx, decision, heard);
}

/** Carries out a pending decision that needs no more people, or lapses a void one, in one transaction. */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  await judgingAgain(() => judgeAndAct(em, ports, id));
  return tellOfEnd(em, ports, await getDecision(em.fork(), id));
}

/** `carryOut` for the workflow of the subject. Throws REQUEST_INVALID for a decision of another kind or subject. */
export async function carryOutAbout(
  em: EntityManager,
  ports: DecisionPorts,
  about: { id: string; kind: DecisionKind; payout_id?: string; receipt_id?: string },
): Promise<void> {
  const isAboutIt = (await em.fork().count(Decision, about)) > 0;
  if (!isAboutIt) refuse('REQUEST_INVALID', 'the decision was not found', { field: 'decision_id' });
  await judgingAgain(() => judgeAndAct(em, ports, about.id));
}

async function judgeAndAct(em: EntityManager, ports: DecisionPorts, id: string): Promise<void> {
  const judge = (heard?: unknown, act?: (tx: EntityManager, decision: Decision) => Promise<void>) =>
    em.fork().transactional(async (tx) => {
      const decision = await lockDecision(tx, id);
      if (decision.status !== 'pending') return null;
      const kind: CarryingOut = ports.decisionKinds[decision.kind];
      if (act) await kind.hold?.(tx, decision, heard);
      const reason = await whyVoid(tx, ports, decision, heard);
      if (reason !== null) await endDecision(tx, decision, { status: 'lapsed', reason });
      if (reason !== null || !(decision.approved_by || kind.ofOne)) return null;
      await act?.(tx, decision);
      return { kind, decision };
    });
  // First judge without the provider: void decisions lapse, and decisions waiting for approval keep waiting.
  const due = await judge();
  if (due === null) return;
  const { kind } = due;
  const heard = await kind.hear?.(em.fork(), ports.gateways, due.decision);
  await judge(heard, async (tx, decision) => {
    const effect = await kind.act(tx, ports, decision, heard);
    if (effect === 'waits') return;
    // Some effects close it in their own statement.
    await tx.refresh(decision);
    const actorId = actorOf(decision);
    await endDecision(tx, decision, { ...(effect ?? { status: 'carried_out' }), actorId });
  });
}

/** Wakes the workflows that a closed decision concerns, and returns it. Sweeps replace lost signals. */
export async function tellOfEnd(
  em: EntityManager,
  { workflows, decisionKinds }: DecisionPorts,
  decision: Decision,
): Promise<Decision> {
  const kind: CarryingOut = decisionKinds[decision.kind];
  await kind.tell?.(em.fork(), workflows, decision).catch(() => undefined);
  return decision;
}

const due = `select d.id, d.created_at as since from decisions d
  left join payouts p on p.id = d.payout_id
  left join receipts r on r.id = d.receipt_id
  left join payouts w on w.id = d.withdrawal_id
  left join donations g on g.id = d.donation_id
  where d.status = 'pending'
    and (d.created_at < now() - decision_lives(d.kind) or d.approved_at < now() - interval '1 minute'
      or d.created_at < now() - interval '1 minute' and (d.kind = 'explain_difference' or d.kind = 'settle_payout'
        and outcome_of_word(d.evidence -> 'provider' ->> 'says') is not null)
      or p.status <> 'pending' or w.status <> 'pending' or r.state <> 'suspended' or g.status <> 'completed'
      or outcome_of_word(p.last_word) is not null and p.last_word is distinct from d.evidence -> 'provider' ->> 'says'
      or d.kind <> 'disburse' and not is_operator(d.proposed_by, 'propose-decision'))`;

/** Lapses void decisions, carries out due ones whose API process died, and resumes their work. Returns the count. */
export const sweepDecisions = (em: EntityManager, ports: DecisionPorts, failed: SweepFailure): Promise<number> =>
  sweepRows(
    em,
    [
      { kind: 'decision', due, longestWaitMinutes: 60, wake: (id) => carryOut(em, ports, id) },
      ...Object.values<CarryingOut>(ports.decisionKinds).flatMap((kind) => kind.sweep?.(ports.workflows) ?? []),
    ],
    failed,
  );
