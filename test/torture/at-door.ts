import type { Attempt } from './facts.ts';

/**
 * Refused before anything was processed, for example by a clock that is ahead, or by headers that a black hole delayed:
 * such an answer proves nothing about the key. A 403 counts, except that of a circle whose member has lost the place.
 */
export const isAtDoor = ({ status, answer }: Pick<Attempt, 'status' | 'answer'>): boolean =>
  status === 401 ||
  status === 408 ||
  status === 429 ||
  (status === 403 && !answer.includes('place in this saving circle has ended'));
