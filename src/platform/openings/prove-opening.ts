import { refuse } from '../../shared/errors.ts';
import type { OpeningPlace } from '../../shared/opening.ts';
import type { Proved, Prover } from '../encryption/prover.ts';

const aboutOf = ({ kind, resourceId }: OpeningPlace): string => `opening ${kind} ${resourceId.toLowerCase()}`;

/** A workflow's opening, with proof that the API accepted it. */
export const proveOpening = <Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Opening,
): Proved<Opening> => prover.prove(aboutOf(place), opening);

/**
 * The opening with which a workflow was started, if the API proved it. Otherwise throws SERVICE_UNAVAILABLE with
 * nothing done or decided: an API request that joined such a run starts another.
 */
export const provenOpening = <Opening extends object>(
  prover: Prover,
  place: OpeningPlace,
  opening: Proved<Opening>,
): Opening =>
  prover.check(aboutOf(place), opening) ??
  refuse('SERVICE_UNAVAILABLE', 'The request was not started by the API', { retryAfterSeconds: 1 });
