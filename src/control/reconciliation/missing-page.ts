import type { EntityManager } from '@mikro-orm/postgresql';
import type { ProviderRecord } from '../../platform/gateway/gateway.ts';
import { textArray } from '../../shared/postgres.ts';
import type { Difference } from './reconciliation.ts';

/** Maximum missing rows per page: each may cost a call to the provider, and a run resumes page by page. */
export const missingPerPage = 50;

/** Our rows per page that are searched for among the provider's records. */
export const soughtPerPage = 1_000;

/** The rows of ours to look up at the provider: those of a day, after the last row of the previous page. */
export interface MissingPage {
  provider: string;
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

/**
 * One of our rows, identified by its position; `at` is PostgreSQL's text of the instant, as a `Date` has only
 * milliseconds.
 */
interface Place {
  at: string;
  id: string;
  /** The row's key in the provider's records. */
  key: string;
}

/**
 * Returns those of these rows that are not among the day's records, up to `missingPerPage`, and the cursor of the next
 * page. The rows are in order, and `soughtPerPage` of them unless they are the last.
 */
export async function findMissing<Row extends Place>(
  em: EntityManager,
  { provider, day, kind, rows }: { provider: string; day: string; kind: ProviderRecord['kind']; rows: readonly Row[] },
): Promise<{ missing: Row[]; next: string | null }> {
  const listed = await em.execute<{ key: string }[]>(
    'select key from reconciled_records where provider = ? and day = ? and kind = ? and key = any(?::text[])',
    [provider, day, kind, textArray(rows.map(({ key }) => key))],
  );
  const keys = new Set(listed.map(({ key }) => key));
  const missing = rows.filter(({ key }) => !keys.has(key)).slice(0, missingPerPage);
  const isFull = missing.length === missingPerPage;
  const last = isFull ? missing.at(-1) : rows.at(-1);
  return { missing, next: last !== undefined && (isFull || rows.length === soughtPerPage) ? cursorOf(last) : null };
}

const cursorOf = ({ at, id }: Place): string => `${at}${separator}${id}`;
