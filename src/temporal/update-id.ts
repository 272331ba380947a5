import { randomUUID } from 'node:crypto';
import type { DecisionInHand } from '../decisions/decision.ts';
import { isDomainError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';

/**
 * The id of an update that waits for what a request opens: one per request, the same however often its call is retried.
 * The server remembers an update's outcome after its workflow has ended; with one id for all requests, a key whose first
 * request was refused would get that refusal for ever, and a number of the database's comes again after a restore.
 */
export const updateIdOf = (name: string, resourceId: string): string => `${name}-${resourceId}-${randomUUID()}`;

/**
 * The id of an update that carries out a decision; `again` makes a new one after a refusal. The server answers a
 * repeated id with its first answer, and an update sent before approval must not stand in for the one sent after it.
 */
const decisionUpdateId = ({ id, isApproved }: DecisionInHand, again?: string): string =>
  ['decision', id, isApproved ? 'approved' : 'proposed', ...(again === undefined ? [] : [again])].join('-');

/**
 * Hands a decision to the workflow that carries it out; duplicates become one update. A refusal is not trusted, because
 * anybody who reaches Temporal can cause one and the server would repeat it for ever: the workflow is asked once more
 * under a new id. `isAnew` does the same for an update that answered but did not carry it out.
 */
export async function handDecision<Outcome>(
  decision: DecisionInHand,
  hand: (update: { id: string; args: [{ decision_id: string }] }) => Promise<Outcome>,
): Promise<Outcome> {
  const args: [{ decision_id: string }] = [{ decision_id: decision.id }];
  if (decision.isAnew) return hand({ id: decisionUpdateId(decision, newId()), args });
  try {
    return await hand({ id: decisionUpdateId(decision), args });
  } catch (error) {
    if (!isDomainError(error) || error.code === 'SERVICE_UNAVAILABLE') throw error;
    return hand({ id: decisionUpdateId(decision, newId()), args });
  }
}
