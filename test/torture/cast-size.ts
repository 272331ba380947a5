import { z } from 'zod';

/** The number of people, partners and causes in a plan. */
export const castSize = { users: 12, partners: 2, causes: 2, approvers: 3 } as const;

/** The number of the partner with low limits: the last, so that nothing drawn at random belongs to it. */
export const boundedPartner = castSize.partners;

/** The number of the partner of all batches: the others' money and limits are used up early. */
export const batchPartner = boundedPartner + 1;

/** Consecutive numbers of people, starting at one; the first follows the last. */
export const inARow = (first: number, size: number): number[] =>
  Array.from({ length: size }, (_, index) => (first + index) % castSize.users);

/** In a recorded plan: a number that is not negative. */
export const whole = z.int().min(0);
/** In a recorded plan: one of a given count. */
export const below = (count: number) =>
  z
    .int()
    .min(0)
    .max(count - 1);
