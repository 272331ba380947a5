import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Pure facts about users (docs/contract.md 1). */
export const userTypes = ['platform', 'organization', 'individual'] as const;
export type UserType = (typeof userTypes)[number];

/**
 * Invited until the invitation is accepted, and never again: who was only invited can be taken away. A suspended user has
 * no valid token.
 */
export const userLaw = statusLaw({
  initial: ['invited', 'active'],
  transitions: {
    invited: ['active'],
    active: ['suspended'],
    suspended: ['active'],
  },
});
export type UserStatus = StatusOf<typeof userLaw>;

/** A password has at least this many characters. */
export const passwordMinimumCharacters = 12;
/** And at most this many, so that hashing has a bound. */
export const passwordMaximumCharacters = 256;
