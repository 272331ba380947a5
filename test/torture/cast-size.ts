import { z } from 'zod';

/** How many people, partners and causes a plan speaks of. */
export const castSize = { users: 12, partners: 2, causes: 2, approvers: 3 } as const;

/** In a recorded plan: the number of one of so many. */
export const below = (count: number) =>
  z
    .int()
    .min(0)
    .max(count - 1);
