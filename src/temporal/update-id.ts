import type { DecisionInHand } from '../decisions/decision.ts';
import type { OpeningStamp } from '../openings/opening.ts';

/**
 * The id of an update that waits for an opening: each request's own, the same however often its call is tried. The server
 * remembers the outcome of an update after its workflow has ended; under one id for all requests, a key whose first
 * request was refused would be told that for ever.
 */
export const updateIdOf = (name: string, opening: { stamp?: OpeningStamp } | null): string =>
  opening?.stamp === undefined ? name : `${name}-${opening.stamp.number}`;

/**
 * The id of an update that carries a decision out. The server answers a second one under the same id as it answered the
 * first: one that came before anybody had approved must not stand in for the one that comes after.
 */
export const decisionUpdateId = ({ id, isApproved }: DecisionInHand): string =>
  `decision-${id}-${isApproved ? 'approved' : 'proposed'}`;
