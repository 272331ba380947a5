import type { Proved, Prover } from '../encryption/prover.ts';
import { refuse } from '../shared/errors.ts';
import type { OpeningPlace } from './opening.ts';

const aboutOf = ({ kind, resourceId }: OpeningPlace): string => `opening ${kind} ${resourceId.toLowerCase()}`;

/** What a request begins, with the proof that the API has judged it. */
export const proveOpening = <Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Opening,
): Proved<Opening> => prover.prove(aboutOf(place), opening);

/**
 * What a workflow was begun with, if the API said it; null stays null. Otherwise refuses with SERVICE_UNAVAILABLE, nothing
 * done and nothing decided: a request of the API that has joined such a run begins another.
 */
export function provenOpening<Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Proved<Opening>,
): Opening;
export function provenOpening<Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Proved<Opening> | null,
): Opening | null;
export function provenOpening<Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Proved<Opening> | null,
): Opening | null {
  if (opening === null) return null;
  const proven = prover.check(aboutOf(place), opening);
  return proven ?? refuse('SERVICE_UNAVAILABLE', 'This was not asked for at the API', { retryAfterSeconds: 1 });
}
