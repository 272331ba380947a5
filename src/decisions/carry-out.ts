import type { EntityManager } from '@mikro-orm/postgresql';
import { isDomainError } from '../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import { endDecision, isTooOld, lockDecision, tooOld } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';
import { handlings } from './handlings.ts';

/** Why a decision is void by now, by its age or as what it is about has moved; null while it is not. */
export async function whyVoid(tx: EntityManager, decision: Decision): Promise<string | null> {
  return (await isTooOld(tx, decision)) ? tooOld : handlings[decision.kind].whyMoved(tx, decision);
}

/**
 * Has a pending decision carried out, unless it is void by now: then it lapses. One that is refused for good by what it is
 * about ends `refused`. Does nothing about one that has ended. Answers it as it stands then. Refuses with
 * SERVICE_UNAVAILABLE when Temporal is away.
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
      await endRefused(em, id, error.message);
    }
  }
  return em.fork().findOneOrFail(Decision, { id });
}

/** Refused once is refused for good: what carries a decision out asks for a pending one. */
function endRefused(em: EntityManager, id: string, reason: string): Promise<void> {
  return em.fork().transactional(async (tx) => {
    const decision = await lockDecision(tx, id);
    if (decision.status === 'pending') await endDecision(tx, decision, { status: 'refused', reason });
  });
}
