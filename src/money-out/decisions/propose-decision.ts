import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../../shared/caller.ts';
import { isDomainError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { carryOut, recordDecision, requireOperator } from './carry-out.ts';
import type { Decision } from './decision.entity.ts';
import type { ProposedKind } from './decision.ts';
import { getDecision } from './find-decisions.ts';
import type { DecisionHandling, DecisionPorts } from './handling.ts';
import type { ProposalOf } from './present-decision.ts';

interface Proposing {
  caller: Caller;
  proposal: ProposalOf<ProposedKind>;
  note: string;
  requestId: string;
}

/**
 * Proposes a decision for another operator to approve, with what provider and books say now. One that needs a single
 * person is carried out at once. Throws what its kind's `look` throws, and when the caller lost the permission or the
 * session ended while the provider was asked. Returns the decision as it stands then; if it could not be carried out at
 * once, it waits for a second person.
 */
export async function proposeDecision(
  em: EntityManager,
  ports: DecisionPorts,
  { caller, proposal, note, requestId }: Proposing,
): Promise<Decision> {
  const handling: DecisionHandling<ProposedKind> = ports.decisionKinds[proposal.kind];
  const { evidence, isProven } = await handling.look(em.fork(), ports.gateways, proposal, caller.userId);
  const id = newId();
  const facts = { id, ...proposal, note, evidence: JSON.stringify(evidence), proposed_by: caller.userId };
  const columns = Object.keys(facts);
  await em.fork().transactional(async (tx) => {
    // Checked again, because asking the provider took time.
    await requireOperator(tx, caller, 'propose-decision');
    await tx.execute(
      `insert into decisions (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      Object.values(facts).map((value) => value ?? null),
    );
    const data = { ...proposal, note };
    await recordDecision(tx, id, 'DECISION_PROPOSED', { actorId: caller.userId, requestId, data });
  });
  try {
    if (isProven) return await carryOut(em, ports, id);
  } catch (error) {
    // The proposal stands all the same.
    if (!isDomainError(error)) throw error;
  }
  return getDecision(em.fork(), id);
}
