import type { Taken } from './blocks.ts';

/** Allowed growth, as a factor and in blocks, for a taller index, a split page, or a plan with a bitmap. */
const slack = { factor: 1.5, blocks: 40 };

/** Below these, a view's rows and blocks are not compared: the planner chooses differently for a few pages. */
const fewRows = 10_000;
const fewBlocks = 200;

/** Whether the larger database reads more than `factor` times as much for each item returned. */
function grows(name: string, smaller: Taken | undefined, larger: Taken | undefined, factor: number): boolean {
  if (smaller === undefined || larger === undefined) return true;
  const most = factor * Math.max(1, larger.answer / Math.max(1, smaller.answer));
  const isMore = (of: 'blocks' | 'rows', few: number) => (larger[of] ?? 0) > most * (smaller[of] ?? 0) + few;
  if (larger.rows === undefined) return isMore('blocks', slack.blocks);
  // For a view read in full only rows are compared: a table that outgrows memory gets another plan, with other blocks.
  // For recent rows blocks are compared too, because they include what functions read.
  return isMore('rows', fewRows) || (name.endsWith(', lately') && isMore('blocks', fewBlocks));
}

/** Whether reads grew faster than the rows returned. */
export const faster = (name: string, smaller: Taken | undefined, larger: Taken | undefined): boolean =>
  grows(name, smaller, larger, slack.factor);

/**
 * Operations that are known to grow, why that is acceptable, and the factor allowed for each item returned in a
 * database with ten times the operations (12 by default).
 */
const known: [name: RegExp, reason: string, most?: number][] = [
  [/^check_balances_match_postings, lately$/, 'current balances of all accounts are always read'],
  [
    /^check_no_forbidden_negative, lately$/,
    'current balances of all accounts are always read, by another plan once the database outgrows memory',
    700,
  ],
  [
    /^check_(transaction_organizations|postings_have_accounts|ledger_rows_have_parents|closed_goals_are_empty|donations_posted_once), lately$/,
    'accounts, goals or causes are read in full while that is cheaper than looking them up',
  ],
  [
    /^check_(completed_targets_are_reached|partner_accounts_are_theirs), lately$/,
    'products that have reached their target, and partners, are always read',
  ],
  [
    /^check_causes_keep_what_was_given, lately$/,
    'the disbursements of a cause are summed, each requested by a person',
    40,
  ],
  [
    /^check_circle_(covers|holdings|pots_paid_once|settlements|states), lately$/,
    'open circles are always read; in this year one in twenty is open',
  ],
  [
    /^check_(partner_pending_matches_payments|reserved_matches_payouts), lately$/,
    "partners' current balances are always read",
  ],
  [/^check_open_pool_matches_donations, lately$/, 'unallocated donations are always summed'],
  [/^check_payout_tallies_match_payouts, lately$/, 'the payouts of two days are always counted'],
  [
    /^person \/(saving-circles|charitable-causes), /,
    'the rows of a user are looked up first: usually few, but in this year one user has ten thousand',
    20,
  ],
  [
    /^step: seal of what is not sealed yet$/,
    'each night scans two indexes of all journals, whatever their dates; it reads more for each journal once the database outgrows memory',
    7,
  ],
  [/, by number$/, 'a page by number reads all rows before it; `next` does not', 65],
  [/^statement of an old account, whole$/, 'each line looks up its journal, in an index with one more level', 4],
];

/**
 * Returns why it is acceptable that an operation grows faster than its answer between databases of these sizes;
 * undefined if it is not acceptable, or not by this much.
 */
export function knownGrowth(
  name: string,
  all: readonly (Taken | undefined)[],
  sizes: readonly number[],
): string | undefined {
  const [, reason, most = 12] = known.find(([pattern]) => pattern.test(name)) ?? [];
  const isMore = all.some((larger, index) => {
    const tenfolds = Number(sizes[index]) / Number(sizes[index - 1]) / 10;
    return index > 0 && grows(name, all[index - 1], larger, Math.max(slack.factor, most * tenfolds));
  });
  return isMore ? undefined : reason;
}

/** Lists that need not grow with the platform, and why; `mayBeEmpty` marks those that may be empty. */
const steady: [name: RegExp, reason: string, mayBeEmpty?: true][] = [
  [/^person \/addresses\/mine, /, 'a person writes a few'],
  [/^platform \/events, /, 'matches are counted up to 100,000'],
  [/^platform \/payments\/orders, /, 'everybody reads only their own orders, and the platform has none', true],
  [/^platform \/acl\/permissions, /, 'the migration creates them', true],
  [/^platform \/acl\/roles, /, 'the platform and its organizations write a few'],
  [/^platform \/organizations\/(sizes|industries), /, 'the platform writes a few'],
  [/^platform \/documents\/categories, /, 'the platform writes a few'],
  [/^platform \/saving-circles\/\{id\}\/contributions, /, 'contributions to one circle'],
  [/^(platform \/|partner \/partners\/)payout-batches\/\{id\}\/items, /, 'items of one batch, at most a thousand'],
  [/^platform \/payouts\/stuck, /, 'only currently stuck payouts, which may be none', true],
  [/^partner \/partners\/payments\/\{id\}\/refunds, /, 'refunds of one payment, which never exceed it'],
  [/^partner \/partners\/webhook-endpoints, /, 'at most ten for each partner'],
  [/^platform \/partner-accounts\/\{id\}\/webhook-endpoints, /, 'at most ten for each partner'],
];

/** Returns why a list's pages prove nothing about growth (a page is empty, or the list does not grow), or undefined. */
export function hollow(
  name: string,
  pages: readonly (Taken | undefined)[],
  sizes: readonly number[],
): string | undefined {
  const totals = pages.map((page) => page?.total);
  if (totals.includes(undefined)) return undefined;
  const [, reason, mayBeEmpty = false] = steady.find(([pattern]) => pattern.test(name)) ?? [];
  if (!mayBeEmpty && pages.some((page) => page?.answer === 0)) return 'a page has no rows, so its plan proves nothing';
  // A list with few rows grows measurably only if the database is ten times as large.
  const grows = totals.every(
    (total, index) =>
      index === 0 || Number(sizes[index]) < 10 * Number(sizes[index - 1]) || Number(total) > Number(totals[index - 1]),
  );
  return reason === undefined && name.endsWith(', first') && !grows
    ? 'the list does not grow with the platform'
    : undefined;
}
