import type { Taken } from './blocks.ts';

/** So much more may be read, as a factor and in blocks: a taller index, a page that is split, a plan with a bitmap. */
const slack = { factor: 1.5, blocks: 40 };

/** So many rows and blocks of a view are not judged: a database plans by what fits into a few pages. */
const fewRows = 10_000;
const fewBlocks = 200;

/** Whether what is read of the larger database is more than `factor` times as much for each thing that is answered. */
function grows(name: string, smaller: Taken | undefined, larger: Taken | undefined, factor: number): boolean {
  if (smaller === undefined || larger === undefined) return true;
  const most = factor * Math.max(1, larger.answer / Math.max(1, smaller.answer));
  const isMore = (of: 'blocks' | 'rows', few: number) => (larger[of] ?? 0) > most * (smaller[of] ?? 0) + few;
  if (larger.rows === undefined) return isMore('blocks', slack.blocks);
  // Of a view that is read whole, rows tell all: a table that outgrows memory is read by another plan, with other blocks.
  // Between two nights blocks count, too, which also show what functions read.
  return isMore('rows', fewRows) || (name.endsWith(', lately') && isMore('blocks', fewBlocks));
}

/** Whether what is read of the larger database has grown by more than what is answered. */
export const faster = (name: string, smaller: Taken | undefined, larger: Taken | undefined): boolean =>
  grows(name, smaller, larger, slack.factor);

/**
 * What is known to grow, and why that is borne; and by how many times, for each thing that is answered, in a database with
 * ten times the deeds, if that is more than tenfold. Twelvefold is allowed for tenfold.
 */
const known: [name: RegExp, reason: string, most?: number][] = [
  [/^check_balances_match_postings, lately$/, 'what each account holds now is always read'],
  [
    /^check_no_forbidden_negative, lately$/,
    'what each account holds now is always read, by another plan once the database outgrows memory',
    700,
  ],
  [
    /^check_(transaction_organizations|postings_have_accounts|ledger_rows_have_parents|closed_goals_are_empty|donations_posted_once), lately$/,
    'accounts, goals or causes are read whole while that is cheaper than to look them up',
  ],
  [
    /^check_(completed_targets_are_reached|partner_accounts_are_theirs), lately$/,
    'products that have reached their target, and partners, are always read',
  ],
  [
    /^check_causes_keep_what_was_given, lately$/,
    'what was disbursed of a cause is summed up, each by a person who asked for it',
    40,
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
  [
    /^person \/(saving-circles|charitable-causes), /,
    'those of a person are looked up first: few among many, and in this year ten thousand of one person',
    20,
  ],
  [
    /^step: seal of what is not sealed yet$/,
    'each night goes through two indexes of all journals once, relying on no date; what it reads for a journal is more in a database that outgrows memory',
    7,
  ],
  [/, by number$/, 'a page by its number reads all rows before it, which `next` does not', 65],
  [/^statement of an old account, whole$/, 'each line looks up its journal, in an index that has a level more', 4],
];

/**
 * Why it is borne that something grows faster than its answer in databases of these sizes; undefined if it is not, or not
 * by so much.
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
