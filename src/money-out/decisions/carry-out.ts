import type { EntityManager } from '@mikro-orm/postgresql';
import { Decision } from './decision.entity.ts';
import { endDecision, judgingAgain, lockDecision, whyPowerless } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';

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
