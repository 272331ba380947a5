import type { Taken } from './blocks.ts';

/** So much more may be read, as a factor and in blocks: a taller index, a page that is split, a plan with a bitmap. */
const slack = { factor: 1.5, blocks: 40 };

/** Below this a database plans by what fits into a few pages: nothing is judged. */
const smallestJudged = 10_000;

/** Whether what is read of the larger database has grown by more than what is answered. */
export function faster(smaller: Taken | undefined, larger: Taken | undefined): boolean {
  if (smaller === undefined || larger === undefined) return true;
  const most = slack.factor * Math.max(1, larger.answer / Math.max(1, smaller.answer));
  // Of a plan the rows tell all: a table that outgrows memory is read by another plan, with other blocks.
  if (larger.rows !== undefined) return larger.rows > most * (smaller.rows ?? 0) + smallestJudged;
  return larger.blocks > most * smaller.blocks + slack.blocks;
}

/** What is known to grow, and why that is borne. */
const known: [name: RegExp, reason: string][] = [
  [/^check_(balances_match_postings|no_forbidden_negative), lately$/, 'what each account holds now is always read'],
  [
    /^check_(transaction_organizations|postings_have_accounts|ledger_rows_have_parents|closed_goals_are_empty|donations_posted_once), lately$/,
    'accounts, goals or causes are read whole while that is cheaper than to look them up',
  ],
  [
    /^check_circle_(covers|holdings|pots_paid_once|settlements|states), lately$/,
    'circles that are open are always read, and in this year one in twenty is',
  ],
  [
    /^check_(partner_pending_matches_payments|reserved_matches_payouts), lately$/,
    'what each partner holds now is always read',
  ],
  [/^check_open_pool_matches_donations, lately$/, 'what waits to be allocated is always summed up'],
  [/^check_payout_tallies_match_payouts, lately$/, 'the payouts of two days are always counted'],
  [/^person \/(saving-circles|charitable-causes), /, 'those of a person are looked up first: few among many'],
  [
    /^step: seal of what is not sealed yet$/,
    'each night goes through two indexes of all journals once, relying on no date',
  ],
  [/, by number$/, 'a page by its number reads all rows before it, which `next` does not'],
  [/^statement of an old account, whole$/, 'each line looks up its journal, in an index that has a level more'],
];

export const knownGrowth = (name: string): string | undefined => known.find(([pattern]) => pattern.test(name))?.[1];

/** Lists that rightly do not grow with the platform, and why; those that may be empty, too. */
const steady: [name: RegExp, reason: string, mayBeEmpty?: true][] = [
  [/^platform \/events, /, 'matches are counted up to 100,000'],
  [/^platform \/payments\/orders, /, 'everybody reads their own, and the platform pays for nothing', true],
  [/^platform \/acl\/permissions, /, 'as many as the release has, as new as its migration', true],
  [/^platform \/acl\/roles, /, 'the platform and its organizations write a few'],
  [/^platform \/organizations\/(sizes|industries), /, 'the platform writes a few'],
  [/^platform \/documents\/categories, /, 'the platform writes a few'],
  [/^platform \/saving-circles\/\{id\}\/contributions, /, 'of one circle'],
  [/^platform \/payouts\/stuck, /, 'what waits at one time, which may be nothing', true],
  [/^partner \/partners\/payments\/\{id\}\/refunds, /, 'of one payment, of which no more is given back than was paid'],
  [/^partner \/partners\/webhook-endpoints, /, 'at most ten of a partner'],
];

/** What is wrong with the pages of a list in databases of growing size: one is empty, or the list does not grow. */
export function hollow(
  name: string,
  pages: readonly (Taken | undefined)[],
  sizes: readonly number[],
): string | undefined {
  const totals = pages.map((page) => page?.total);
  if (totals.includes(undefined)) return undefined;
  const [, reason, mayBeEmpty = false] = steady.find(([pattern]) => pattern.test(name)) ?? [];
  if (!mayBeEmpty && pages.some((page) => page?.answer === 0))
    return 'a page of it has no rows, whose plan proves nothing';
  // Of some there are a few in any year: they show in one that is ten times as large.
  const grows = totals.every(
    (total, index) =>
      index === 0 || Number(sizes[index]) < 10 * Number(sizes[index - 1]) || Number(total) > Number(totals[index - 1]),
  );
  return reason === undefined && name.endsWith(', first') && !grows
    ? 'the list does not grow with the platform'
    : undefined;
}
