import { RawQueryFragment } from '@mikro-orm/core';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';

/** The number of all matches, counted once, and a digest of the query. */
export interface Counted {
  total: number;
  question: string;
}

/**
 * A position in a list: the instant that orders its rows, with microseconds, and the id of the row there. A `next` also
 * carries the list's count.
 */
export interface Position {
  at: string;
  id: string;
  counted?: Counted;
}

/** A row read for a page, with the text of its position. */
export interface Placed {
  position: string;
}

/** A page's metadata: the number of all matches, and `next` when rows follow. */
export interface Listed {
  total: number;
  next?: string | undefined;
}

/** The first letter of every `next`, which names its format. No id begins with it. */
const form = 'n';
const written =
  /^((?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z) ([0-9a-f-]{36}|\d{1,19})(?: (\d{1,15}) ([0-9a-f]{16}))?$/;

/** SQL: the text of a row's position. A Date would lose the microseconds. */
export const positionOf = (instant: string, id: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || ${id}`;

/**
 * SQL: whether a row comes after a position in the list's order; its parameters are `paramsOf` the position. It is one
 * row comparison, so that an index scan can start there.
 */
export const comesAfter = (instant: string, id: string, order: 'asc' | 'desc'): string =>
  `(${instant}, ${id}) ${order === 'desc' ? '<' : '>'} (?::timestamptz, ?)`;

export const paramsOf = ({ at, id }: Position): [string, string] => [at, id];

/** Returns the `next` with this position and count. */
export function nextOf(position: string, counted?: Counted): string {
  const text = counted === undefined ? position : `${position} ${counted.total} ${counted.question}`;
  return `${form}${Buffer.from(text).toString('base64url')}`;
}

/** Returns the position in a `next`; undefined for anything else, such as an id. */
export function readNext(next: string): Position | undefined {
  if (!next.startsWith(form)) return undefined;
  const position = Buffer.from(next.slice(form.length), 'base64url').toString();
  return nextOf(position) === next ? readPosition(position) : undefined;
}

function readPosition(position: string): Position | undefined {
  const [, at, id, total, question] = written.exec(position) ?? [];
  if (at === undefined || id === undefined || !isInstant(at)) return undefined;
  return { at, id, ...(question !== undefined && { counted: { total: Number(total), question } }) };
}

/** Whether this date and time exist: the database rejects 30 February, while a Date turns it into March. */
function isInstant(at: string): boolean {
  const date = new Date(at);
  return Number.isFinite(date.getTime()) && date.toISOString().slice(0, 23) === at.slice(0, 23);
}

/**
 * Returns where a page starts: the position in `after` if it is a `next`, even if its row was deleted; otherwise the
 * position of the row with this id, which `find` looks up among the rows that the caller may list. Undefined without
 * `after`. Throws the same REQUEST_INVALID for a deleted, a foreign and an unknown row.
 */
export async function startOfPage(
  after: string | undefined,
  find: (id: string) => Promise<readonly Placed[]>,
): Promise<Position | undefined> {
  if (after === undefined) return undefined;
  const named = readNext(after);
  if (named !== undefined) return named;
  const [row] = await find(after);
  const position = row && readPosition(row.position);
  return position ?? refuse('REQUEST_INVALID', 'matches no row of this list; use a value of next', { field: 'after' });
}

/**
 * Returns the number of all matches: from the `next` that led to this page, otherwise from `count`. Reading a list to
 * its end thus counts it once.
 */
export async function countOnce(
  start: Position | undefined,
  asked: unknown,
  count: () => Promise<number>,
): Promise<Counted> {
  const question = sha256(textOf(asked)).slice(0, 16);
  return start?.counted?.question === question ? start.counted : { total: await count(), question };
}

/** Returns the query as text, including its SQL fragments, which JSON omits or truncates. */
const textOf = (asked: unknown): string =>
  JSON.stringify(asked, function (this: Record<string, unknown>, key, value: unknown) {
    const fragment = RawQueryFragment.getKnownFragment(this[key]);
    if (fragment !== undefined) return [fragment.sql, fragment.params];
    if (typeof value !== 'object' || value === null) return value;
    const conditions = Object.getOwnPropertySymbols(value).map((symbol) => {
      const condition = RawQueryFragment.getKnownFragment(symbol);
      return [condition?.sql, condition?.params, Reflect.get(value, symbol)];
    });
    return conditions.length === 0 ? value : { ...value, conditions };
  });

/** Returns a page's rows and its `next`. `read` has up to one row more than the page. */
export function cutPage<Row extends Placed>(
  read: readonly Row[],
  limit: number,
  counted?: Counted,
): { rows: Omit<Row, 'position'>[]; next: string | undefined } {
  const page = read.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page.map(({ position: _, ...row }) => row),
    next: last !== undefined && read.length > limit ? nextOf(last.position, counted) : undefined,
  };
}
