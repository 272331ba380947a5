import { refuse } from '../../shared/errors.ts';
import type { OpeningPlace } from '../../shared/opening.ts';
import type { Proved, Prover } from '../encryption/prover.ts';

const aboutOf = ({ kind, resourceId }: OpeningPlace): string => `opening ${kind} ${resourceId.toLowerCase()}`;

/** Adds a proof to a workflow's opening that the API accepted it. */
export const proveOpening = <Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Opening,
): Proved<Opening> => prover.prove(aboutOf(place), opening);

/**
 * Returns a workflow's opening if the API proved it. Otherwise throws SERVICE_UNAVAILABLE with nothing done or decided;
 * an API request that joined this run starts another.
 */
export const provenOpening = <Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Proved<Opening>,
): Opening =>
  prover.check(aboutOf(place), opening) ??
  refuse('SERVICE_UNAVAILABLE', 'The request was not started by the API', { retryAfterSeconds: 1 });
