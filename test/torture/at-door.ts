import type { Attempt } from './facts.ts';

/**
 * Refused before anything was looked at, as with a clock that runs ahead, or headers that a black hole held up: such an
 * answer tells nothing of the key. A 403 is one, but that of a circle whose member has lost their place.
 */
export const isAtDoor = ({ status, answer }: Pick<Attempt, 'status' | 'answer'>): boolean =>
  status === 401 ||
  status === 408 ||
  status === 429 ||
  (status === 403 && !answer.includes('place in this saving circle has ended'));
