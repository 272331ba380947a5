import { foldForBank } from '../../shared/bank-text.ts';

/** Statuses, limits and name comparison of bank account checks (docs/contract.md 8). */
export const accountCheckStatuses = ['valid', 'invalid', 'unknown'] as const;
export type AccountCheckStatus = (typeof accountCheckStatuses)[number];

export const nameMatches = ['match', 'partial', 'mismatch'] as const;
export type NameMatch = (typeof nameMatches)[number];

/** Hours for which the provider's answer about an account is stored and reused. */
export const resultKeptHours = 24;
/** Maximum checks per partner in 24 hours, over all accounts. */
export const mostChecksOfDay = 1000;
/** Maximum checks of one account: each check with another name is a guess. */
export const mostChecksOfAccount = 20;

/** Shorter words (initials, `bin`, titles without their full stop) do not distinguish people. */
const tellingLetters = 4;

const wordsOf = (name: string): string[] =>
  foldForBank(name)
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '');

/**
 * Compares the given name with the bank's. `match`: the same words in any order, ignoring case, accents and
 * punctuation. `partial`: at least half of the given words of four letters or more are in the bank's name, so that a
 * list of common names with one hit is a mismatch.
 */
export function compareNames(given: string, held: string): NameMatch {
  const [mine, theirs] = [wordsOf(given), wordsOf(held)];
  if (mine.toSorted().join(' ') === theirs.toSorted().join(' ')) return 'match';
  const telling = [...new Set(mine)].filter((word) => word.length >= tellingLetters);
  const shared = telling.filter((word) => theirs.includes(word)).length;
  return shared > 0 && 2 * shared >= telling.length ? 'partial' : 'mismatch';
}
