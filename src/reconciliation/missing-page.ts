import type { Difference } from './reconciliation.ts';

/** Each of them may cost a question to the provider, and a page is the step by which a run goes on. */
export const missingPerPage = 50;

/** Which rows of ours are looked for at the provider: those of a day's period, after a row of the page before. */
export interface MissingPage {
  day: string;
  from: Date;
  to: Date;
  /** As the page before told it; null at the beginning. */
  after: string | null;
  signal?: AbortSignal;
}

export interface FoundMissing {
  differences: Difference[];
  /** Where the next page begins; null when there is none. */
  next: string | null;
}

const separator = '|';

/** Instant and id of the row that a page begins after, as parameters of a query. */
export function readCursor(cursor: string | null, from: Date): [at: string, id: string] {
  const [at, id] = (cursor ?? '').split(separator);
  return at && id ? [at, id] : [from.toISOString(), '00000000-0000-0000-0000-000000000000'];
}

/** The cursor after a page; `at` is PostgreSQL's text of the instant, which a `Date` would cut to milliseconds. */
export function cursorAfter(rows: readonly { at: string; id: string }[]): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < missingPerPage ? null : `${last.at}${separator}${last.id}`;
}
