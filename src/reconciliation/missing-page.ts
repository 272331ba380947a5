import type { Difference } from './reconciliation.ts';

/** Each row may cost a call to the provider, and a page is the unit by which a run resumes. */
export const missingPerPage = 50;

/** Which of our rows are looked up at the provider: those of a day, after the last row of the previous page. */
export interface MissingPage {
  day: string;
  from: Date;
  to: Date;
  /** The previous page's `next`; null for the first page. */
  after: string | null;
  signal?: AbortSignal;
}

export interface FoundMissing {
  differences: Difference[];
  /** Cursor of the next page; null when there is none. */
  next: string | null;
}

const separator = '|';

/** Instant and id of the row after which the page begins, as query parameters. */
export function readCursor(cursor: string | null, from: Date): [at: string, id: string] {
  const [at, id] = (cursor ?? '').split(separator);
  return at && id ? [at, id] : [from.toISOString(), '00000000-0000-0000-0000-000000000000'];
}

/** The cursor after a page; `at` is PostgreSQL's text of the instant, which a `Date` would truncate to milliseconds. */
export function cursorAfter(rows: readonly { at: string; id: string }[]): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < missingPerPage ? null : `${last.at}${separator}${last.id}`;
}
