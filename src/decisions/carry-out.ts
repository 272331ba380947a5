import type { EntityManager } from '@mikro-orm/postgresql';
import { Decision } from './decision.entity.ts';
import { endDecision, isTooOld, lockDecision, tooOld } from './end-decision.ts';
import type { DecisionPorts } from './handling.ts';
import { handlings } from './handlings.ts';

/** Why a decision is void by now, by its age or as what it is about has moved; null while it is not. */
export async function whyVoid(tx: EntityManager, decision: Decision): Promise<string | null> {
  return (await isTooOld(tx, decision)) ? tooOld : handlings[decision.kind].whyMoved(tx, decision);
}

/**
 * Has a pending decision carried out, unless it is void by now: then it lapses. Does nothing about one that has ended.
 * Answers it as it stands then. Refuses with SERVICE_UNAVAILABLE when Temporal is away.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  const decision = await em.fork().transactional(async (tx) => {
    const pending = await lockDecision(tx, id);
    const reason = pending.status === 'pending' ? await whyVoid(tx, pending) : null;
    if (reason !== null) await endDecision(tx, pending, { status: 'lapsed', reason });
    return pending;
  });
  if (decision.status === 'pending') await handlings[decision.kind].carryOut(em, ports, decision);
  return em.fork().findOneOrFail(Decision, { id });
}
