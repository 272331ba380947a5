import type { EntityManager } from '@mikro-orm/postgresql';
import { insufficientBalance } from '../../ledger/post-journal.ts';
import type { Decision } from '../../money-out/decisions/decision.entity.ts';
import {
  actorOf,
  endDecision,
  lockDecision,
  recordDecisionEnded,
  whyPowerless,
} from '../../money-out/decisions/end-decision.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';

/** SQLSTATE of a withdrawal from what an account keeps for its causes. */
const keptForCauses = 'AM004';

/**
 * Books money that the platform itself moved at the provider (a top-up, a withdrawal, a provider charge that no payment
 * explains), as two people have decided, once per reference. Its counter-account is fee revenue, the platform's own
 * money there: money owed to others cannot be withdrawn, except that of a person who was erased, whose account is then
 * the counter-account. A decision without approval waits; one about a movement already booked, or about more than there
 * is, ends `refused`.
 */
export async function bookExternal(em: EntityManager, decisionId: string): Promise<void> {
  const book = async (tx: EntityManager): Promise<void> => {
    const decision = await lockDecision(tx, decisionId);
    if (decision.status !== 'pending') return;
    const why = await whyPowerless(tx, decision);
    if (why !== null) return endDecision(tx, decision, { status: 'lapsed', reason: why });
    if (!decision.approved_by) return;
    const [{ booked }] = await tx.execute<[{ booked: boolean }]>('select book_external(?, ?) as booked', [
      newId(),
      decisionId,
    ]);
    if (!booked) return refused(tx, decision, 'a movement with this reference is already booked');
    await tx.refresh(decision);
    await recordDecisionEnded(tx, decision, { actorId: actorOf(decision) });
  };
  try {
    await em.fork().transactional(book);
  } catch (error) {
    if (!([insufficientBalance, keptForCauses] as unknown[]).includes(errorCodeOf(error))) throw error;
    // The transaction was rolled back; the decision is ended in its own.
    await em.fork().transactional(async (tx) => {
      const decision = await lockDecision(tx, decisionId);
      const available = decision.account_id ? 'the available balance of the account' : "the platform's own balance";
      if (decision.status === 'pending') await refused(tx, decision, `exceeds ${available}`);
    });
  }
}

const refused = (tx: EntityManager, decision: Decision, reason: string): Promise<void> =>
  endDecision(tx, decision, { status: 'refused', reason });
