import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../../shared/caller.ts';
import { isDomainError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { carryOut } from './carry-out.ts';
import { Decision } from './decision.entity.ts';
import type { ProposedKind } from './decision.ts';
import { recordDecision, requireOperator } from './end-decision.ts';
import type { DecisionHandling, DecisionPorts, Look } from './handling.ts';
import type { ProposalOf } from './present-decision.ts';

interface Proposing<Kind extends ProposedKind> {
  caller: Caller;
  proposal: ProposalOf<Kind>;
  note: string;
  requestId: string;
}

/**
 * Proposes a decision for another operator to approve, with what provider and books say now. One that needs a single
 * person is carried out at once. Throws what its kind's `look` throws, and when the caller lost the permission or the
 * session ended while the provider was asked. Returns the decision as it stands then; if it could not be carried out at
 * once, it waits for a second person.
 */
export async function proposeDecision<Kind extends ProposedKind>(
  em: EntityManager,
  ports: DecisionPorts,
  proposing: Proposing<Kind>,
): Promise<Decision> {
  const kind: Kind = proposing.proposal.kind as Kind;
  const proposable: { [One in ProposedKind]: DecisionHandling<One> } = ports.decisionKinds;
  const handling: DecisionHandling<Kind> = proposable[kind];
  const look = await handling.look(em.fork(), ports.gateways, proposing.proposal, proposing.caller.userId);
  const id = await write(em, proposing, look);
  if (!look.isProven) return em.fork().findOneOrFail(Decision, { id });
  try {
    return await carryOut(em, ports, id);
  } catch (error) {
    // Temporal is unavailable: the proposal stands all the same.
    if (!isDomainError(error)) throw error;
  }
  return em.fork().findOneOrFail(Decision, { id });
}

function write<Kind extends ProposedKind>(
  em: EntityManager,
  { caller, proposal, note, requestId }: Proposing<Kind>,
  { evidence }: Look,
): Promise<string> {
  const id = newId();
  const facts = { id, ...proposal, note, evidence: JSON.stringify(evidence), proposed_by: caller.userId };
  const columns = Object.keys(facts);
  return em.fork().transactional(async (tx) => {
    // Checked again, because asking the provider took time.
    await requireOperator(tx, caller, 'propose-decision');
    await tx.execute(
      `insert into decisions (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      Object.values(facts).map((value) => value ?? null),
    );
    const data = { ...proposal, note };
    await recordDecision(tx, id, 'DECISION_PROPOSED', { actorId: caller.userId, requestId, data });
    return id;
  });
}
