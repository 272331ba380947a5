import type { Attempt } from './facts.ts';

/**
 * Whether a request was rejected before processing, e.g. because a clock is ahead or headers were delayed: such an
 * answer proves nothing about the key. A 403 counts, except for a member whose place in the circle has ended.
 */
export const isAtDoor = ({ status, answer }: Pick<Attempt, 'status' | 'answer'>): boolean =>
  status === 401 ||
  status === 408 ||
  status === 429 ||
  (status === 403 && !answer.includes('place in this saving circle has ended'));
