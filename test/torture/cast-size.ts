import { z } from 'zod';

/** The number of people, partners and causes in a plan. */
export const castSize = { users: 12, partners: 2, causes: 2, approvers: 3 } as const;

/** The number of the partner with low limits: above the others, so that it is never drawn at random. */
export const boundedPartner = castSize.partners;

/** The number of the partner of all batches, because the other partners' money and limits are used up early. */
export const batchPartner = boundedPartner + 1;

/** Consecutive numbers of people from `first` on; after the last number comes 0. */
export const inARow = (first: number, size: number): number[] =>
  Array.from({ length: size }, (_, index) => (first + index) % castSize.users);

/** In a recorded plan: a non-negative number. */
export const whole = z.int().min(0);
/** In a recorded plan: a number below the count. */
export const below = (count: number) =>
  z
    .int()
    .min(0)
    .max(count - 1);
