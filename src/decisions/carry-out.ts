import type { EntityManager } from '@mikro-orm/postgresql';
import { isDomainError } from '../shared/errors.ts';
import { Decision } from './decision.entity.ts';
import { tellWithdrawal } from './disbursing.ts';
import { endDecision, lockDecision, whyPowerless } from './end-decision.ts';
import type { DecisionPorts, Hand } from './handling.ts';
import { handlings } from './handlings.ts';

/** Why a decision has become void: by its age, its people, or a change of its subject; null while it is valid. */
export async function whyVoid(tx: EntityManager, decision: Decision): Promise<string | null> {
  return (await whyPowerless(tx, decision)) ?? handlings[decision.kind].whyMoved(tx, decision);
}

/**
 * Has a pending decision carried out, or lets it lapse if it has become void. The step that carries it out also ends
 * it, in the transaction of its effect. An answer that comes back through Temporal proves nothing, so a refusal from
 * there leaves the decision pending. Does nothing when it has already ended. Returns it as it stands then. Throws
 * SERVICE_UNAVAILABLE when Temporal is unavailable.
 */
export async function carryOut(em: EntityManager, ports: DecisionPorts, id: string): Promise<Decision> {
  const decision = await em.fork().transactional(async (tx) => {
    const pending = await lockDecision(tx, id);
    const reason = pending.status === 'pending' ? await whyVoid(tx, pending) : null;
    if (reason !== null) await endDecision(tx, pending, { status: 'lapsed', reason });
    return pending;
  });
  const tell = async () => tellWithdrawal(ports, await em.fork().findOneOrFail(Decision, { id }));
  if (decision.status !== 'pending') return tell();
  const isAnswered = await hand(em, ports, decision, {});
  const handed = await tell();
  if (!isAnswered || handed.status !== 'pending' || !handed.approved_by) return handed;
  // Somebody answered in the step's place, and the server would repeat that answer.
  await hand(em, ports, decision, { isAnew: true });
  return tell();
}

/** Returns whether it was answered. */
async function hand(em: EntityManager, ports: DecisionPorts, decision: Decision, how: Hand): Promise<boolean> {
  try {
    return (await handlings[decision.kind].carryOut(em, ports, decision, how)) !== null;
  } catch (error) {
    if (!isDomainError(error) || error.code === 'SERVICE_UNAVAILABLE') throw error;
    return false;
  }
}
