import { type StatusOf, statusLaw } from './status-law.ts';

/** Types, statuses and password limits of users (docs/contract.md 1). */
export const userTypes = ['platform', 'organization', 'individual'] as const;
export type UserType = (typeof userTypes)[number];

/**
 * `invited` until the invitation is accepted and never again; an invited user can be deleted. A suspended user has no
 * valid token.
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

/** The minimum length of a password in characters. */
export const passwordMinimumCharacters = 12;
/** The maximum length in characters, to bound the cost of hashing. */
export const passwordMaximumCharacters = 256;

export const locales = ['id', 'en'] as const;
export type Locale = (typeof locales)[number];
