import type { Attempt } from './facts.ts';

/**
 * Refused before anything was examined, as with a clock that is ahead, or headers delayed by a black hole: such an
 * answer proves nothing about the key. A 403 is one, except that of a circle whose member has lost their place.
 */
export const isAtDoor = ({ status, answer }: Pick<Attempt, 'status' | 'answer'>): boolean =>
  status === 401 ||
  status === 408 ||
  status === 429 ||
  (status === 403 && !answer.includes('place in this saving circle has ended'));
