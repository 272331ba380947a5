import type { DecisionInHand } from '../decisions/decision.ts';
import type { OpeningStamp } from '../openings/opening.ts';
import { isDomainError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';

/**
 * The id of an update that waits for an opening: each request's own, the same however often its call is tried. The server
 * remembers the outcome of an update after its workflow has ended; under one id for all requests, a key whose first
 * request was refused would be told that for ever.
 */
export const updateIdOf = (name: string, opening: { stamp?: OpeningStamp } | null): string =>
  opening?.stamp === undefined ? name : `${name}-${opening.stamp.number}`;

/**
 * The id of an update that carries a decision out, unless an update under it was refused: then `again` makes it another. The server answers a second one under the same id as it answered the
 * first: one that came before anybody had approved must not stand in for the one that comes after.
 */
const decisionUpdateId = ({ id, isApproved }: DecisionInHand, again?: string): string =>
  ['decision', id, isApproved ? 'approved' : 'proposed', ...(again === undefined ? [] : [again])].join('-');

/**
 * Hands a decision to the workflow that carries it out: twins by one update. Whatever refuses is not believed, as anybody
 * who reaches Temporal can make it refuse, and the server would repeat that for ever: it is asked once more. So it is where
 * whatever answered has not carried it out (`isAnew`).
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
