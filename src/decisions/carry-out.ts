import type { EntityManager } from '@mikro-orm/postgresql';
import { isDomainError } from '../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import { endDecision, lockDecision, whyPowerless } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';
import { handlings } from './handlings.ts';

/** Why a decision is void by now: by its age, its people, or as what it is about has moved; null while it is not. */
export async function whyVoid(tx: EntityManager, decision: Decision): Promise<string | null> {
  return (await whyPowerless(tx, decision)) ?? handlings[decision.kind].whyMoved(tx, decision);
}

/**
 * Has a pending decision carried out, unless it is void by now: then it lapses. Whoever carries it out ends it, in the
 * transaction of its effect: what comes back through Temporal says nothing of it, so a refusal from there leaves the
 * decision pending. Does nothing about one that has ended. Answers it as it stands then. Refuses with SERVICE_UNAVAILABLE
 * when Temporal is away.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  const decision = await em.fork().transactional(async (tx) => {
    const pending = await lockDecision(tx, id);
    const reason = pending.status === 'pending' ? await whyVoid(tx, pending) : null;
    if (reason !== null) await endDecision(tx, pending, { status: 'lapsed', reason });
    return pending;
  });
  if (decision.status === 'pending') {
    try {
      await handlings[decision.kind].carryOut(em, ports, decision);
    } catch (error) {
      if (!isDomainError(error) || error.code === 'SERVICE_UNAVAILABLE') throw error;
    }
  }
  return em.fork().findOneOrFail(Decision, { id });
}
