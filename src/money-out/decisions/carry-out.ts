import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { Decision } from './decision.entity.ts';
import { endDecision, judgingAgain, lockDecision, whyPowerless } from './end-decision.ts';
import type { CarryingOut, DecisionPorts } from './handling.ts';

/** Why a decision has become void: by its age, its people, or a change of its subject; null while it is valid. */
export async function whyVoid(
  tx: EntityManager,
  { decisionKinds }: Pick<DecisionPorts, 'decisionKinds'>,
  decision: Decision,
): Promise<string | null> {
  return (await whyPowerless(tx, decision)) ?? decisionKinds[decision.kind].whyMoved(tx, decision);
}

/**
 * Carries a pending decision out, or lets it lapse if it has become void; its effect and its end are one transaction. Does
 * nothing when it has already ended, or waits for a second person. Returns it as it stands then.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  const decision = await em.fork().transactional(async (tx) => {
    const pending = await lockDecision(tx, id);
    const reason = pending.status === 'pending' ? await whyVoid(tx, ports, pending) : null;
    if (reason !== null) await endDecision(tx, pending, { status: 'lapsed', reason });
    return pending;
  });
  if (decision.status === 'pending') {
    await judgingAgain(() => ports.decisionKinds[decision.kind].carryOut(em.fork(), ports, decision));
  }
  return tellWithdrawal(ports, await em.fork().findOneOrFail(Decision, { id }));
}

/**
 * Wakes the workflow of the withdrawal an ended decision is about; returns the decision. If Temporal is unavailable,
 * the sweep wakes it later.
 */
export async function tellWithdrawal(
  { workflows }: Pick<DecisionPorts, 'workflows'>,
  decision: Decision,
): Promise<Decision> {
  const { withdrawal_id: id, status } = decision;
  if (id && status !== 'pending') {
    await workflows.hintPayout({ id, kind: 'withdrawal' }).catch(() => undefined);
  }
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
