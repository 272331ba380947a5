import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { refuse } from '../../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import type { DecisionKind } from './decision.ts';
import { actorOf, endDecision, judgingAgain, lockDecision, whyPowerless } from './end-decision.ts';
import { getDecision } from './find-decisions.ts';
import type { CarryingOut, DecisionPorts } from './handling.ts';

/** Why a decision has become void: by its age, its people, or a change of its subject; null while it is valid. */
export async function whyVoid(
  tx: EntityManager,
  { decisionKinds }: Pick<DecisionPorts, 'decisionKinds'>,
  decision: Decision,
  heard?: unknown,
): Promise<string | null> {
  return (await whyPowerless(tx, decision)) ?? decisionKinds[decision.kind].whyMoved(tx, decision, heard);
}

/**
 * Carries a pending decision out, or lets it lapse if it has become void; its effect and its end are one transaction. Does
 * nothing when it has already ended, or waits for a second person. Returns it as it stands then.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  await judgingAgain(() => judgeAndAct(em, ports, id));
  return tellOfEnd(em, ports, await getDecision(em.fork(), id));
}

/** The same for the workflow of its subject. Throws REQUEST_INVALID for a decision of another kind or subject. */
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
  // A void one lapses, and one that waits for people is left, also while the provider does not answer.
  const due = await judge();
  if (due === null) return;
  const { kind } = due;
  const heard = await kind.hear?.(em.fork(), ports.gateways, due.decision);
  await judge(heard, async (tx, decision) => {
    const effect = await kind.act(tx, ports, decision, heard);
    if (effect === 'waits') return;
    // Some effects end it in their own statement.
    await tx.refresh(decision);
    const actorId = actorOf(decision);
    await endDecision(tx, decision, { ...(effect ?? { status: 'carried_out' }), actorId });
  });
}

/** Wakes whom the end of a decision concerns, and returns it; what Temporal misses then the sweeps see. */
export async function tellOfEnd(
  em: EntityManager,
  { workflows, decisionKinds }: Pick<DecisionPorts, 'workflows' | 'decisionKinds'>,
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

/**
 * Lapses void decisions, and carries out those that were approved, or needed one person only, when the API process that
 * should have done so died; and looks after what decisions have begun. Returns how many it looked at.
 */
export const sweepDecisions = (em: EntityManager, ports: DecisionPorts, failed: SweepFailure): Promise<number> =>
  sweepRows(
    em,
    [
      { kind: 'decision', due, longestWaitMinutes: 60, wake: (id) => carryOut(em, ports, id) },
      ...Object.values<CarryingOut>(ports.decisionKinds).flatMap((kind) => kind.sweep?.(ports.workflows) ?? []),
    ],
    failed,
  );
