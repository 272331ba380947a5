import type { EntityManager } from '@mikro-orm/postgresql';
import { Decision } from './decision.entity.ts';
import { tellWithdrawal } from './disbursing.ts';
import { endDecision, judgingAgain, lockDecision, whyPowerless } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';
import { handlings } from './handlings.ts';

/** Why a decision has become void: by its age, its people, or a change of its subject; null while it is valid. */
export async function whyVoid(tx: EntityManager, decision: Decision): Promise<string | null> {
  return (await whyPowerless(tx, decision)) ?? handlings[decision.kind].whyMoved(tx, decision);
}

/**
 * Carries a pending decision out, or lets it lapse if it has become void; its effect and its end are one transaction. Does
 * nothing when it has already ended, or waits for a second person. Returns it as it stands then.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  const decision = await em.fork().transactional(async (tx) => {
    const pending = await lockDecision(tx, id);
    const reason = pending.status === 'pending' ? await whyVoid(tx, pending) : null;
    if (reason !== null) await endDecision(tx, pending, { status: 'lapsed', reason });
    return pending;
  });
  if (decision.status === 'pending') {
    await judgingAgain(() => handlings[decision.kind].carryOut(em.fork(), ports, decision));
  }
  return tellWithdrawal(ports, await em.fork().findOneOrFail(Decision, { id }));
}
