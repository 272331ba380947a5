import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../platform/database/find-page.ts';
import {
  comesAfter,
  countOnce,
  cutPage,
  type Listed,
  type Placed,
  type Position,
  paramsOf,
  positionOf,
  startOfPage,
} from '../platform/database/position.ts';
import { readFresh } from '../platform/database/replica.ts';
import { must } from '../shared/assert.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { isUuid } from '../shared/uuid.ts';
import { Transaction } from './transaction.entity.ts';
import type { LedgerReferenceType, TransactionType } from './transaction.ts';

export interface TransactionFilter extends ListWindow {
  /** The id of the paid resource; text that is not a UUID matches nothing. */
  product_id?: string | undefined;
  reference_type?: LedgerReferenceType | undefined;
  type?: TransactionType | undefined;
  user_id?: string | undefined;
}

interface Condition {
  sql: string;
  values: readonly unknown[];
}

/** The table and conditions of a filter. */
interface Listing {
  table: 'transactions' | 'transaction_organizations';
  conditions: Condition[];
  /** Whether to include rows that credit the user's accounts. */
  withReceived?: boolean;
}

/**
 * Returns the user to filter by, if any. Overrides a `user_id` that the caller may not use: individuals always get
 * their own rows; users of type `organization` get all of the organization's rows if the named user neither belongs to
 * it nor has a row among them.
 */
async function askedUser(em: EntityManager, caller: Caller, userId: string | undefined): Promise<string | undefined> {
  if (caller.userType === 'individual') return caller.userId;
  if (caller.userType === 'platform' || userId === undefined) return userId;
  const within = await em.execute<unknown[]>(
    `select 1 from users where id = ? and organization_id = ?
     union all (select 1 from transaction_organizations where organization_id = ? and user_id = ? limit 1)`,
    [userId, caller.organizationId, caller.organizationId, userId],
  );
  return within.length > 0 ? userId : undefined;
}

/**
 * Returns the table and conditions for the rows that a caller may read: individuals their own and those that credit
 * their accounts, users of type `organization` those of their organization's users and accounts, platform all.
 */
function listingOf(caller: Caller, userId: string | undefined, filter: TransactionFilter): Listing {
  const { product_id, reference_type, type } = filter;
  const asked: [sql: string, value: unknown][] = [
    ['user_id = ?', userId],
    ['reference_id = ?', product_id],
    ['reference_type = ?', reference_type],
    ['type = ?', type],
  ];
  const conditions = asked.filter(([, value]) => value !== undefined).map(([sql, value]) => ({ sql, values: [value] }));
  if (caller.userType === 'individual') return { table: 'transactions', conditions, withReceived: true };
  if (caller.userType !== 'organization') return { table: 'transactions', conditions };
  const own = { sql: 'organization_id = ?', values: [caller.organizationId] };
  return { table: 'transaction_organizations', conditions: [own, ...conditions] };
}

const whereOf = (conditions: readonly Condition[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`;

/** A table to list from; its indexes are in the order of the list. */
interface Source {
  table: Listing['table'] | 'transaction_receivers';
  conditions: Condition[];
}

/** Returns the tables that hold a listing's rows; no row is in two of them. */
function sourcesOf({ table, conditions, withReceived }: Listing): Source[] {
  const own = { table, conditions };
  return withReceived ? [own, { table: 'transaction_receivers', conditions }] : [own];
}

/**
 * Builds the query for the first rows of a source, or the first after a position, at most as many as the page needs.
 */
function pageOf(
  { table, conditions }: Source,
  { order, start, rows }: { order: 'asc' | 'desc'; start: Position | undefined; rows: bigint },
): { sql: string; values: unknown[] } {
  const id = table === 'transactions' ? 'id' : 'transaction_id';
  const further = start && { sql: comesAfter('created_at', id, order), values: paramsOf(start) };
  const all = further === undefined ? conditions : [...conditions, further];
  const sql = `select ${id} as id, created_at from ${table} ${whereOf(all)}
    order by created_at ${order}, ${id} ${order} limit ${rows}`;
  return { sql, values: all.flatMap(({ values }) => values) };
}

/** Returns the position of a transaction, if the caller may read it. */
async function findPosition(em: EntityManager, caller: Caller, id: string): Promise<Placed[]> {
  const rows = await em.execute<(Placed & { user_id: string; created_at: Date | string })[]>(
    `select user_id, created_at, ${positionOf('created_at', 'id')} as position from transactions where id = ?`,
    [id],
  );
  const [row] = rows;
  const readable =
    row !== undefined && (await mayReadTransaction(em, caller, { ...row, id, created_at: new Date(row.created_at) }));
  return readable ? rows : [];
}

/**
 * Returns a page of the transactions that the caller may read, newest first by default, the number of all that match,
 * and `next` if rows follow (see `readFresh`). Throws REQUEST_INVALID for an `after` that the caller may not read.
 */
export async function findTransactions(
  em: EntityManager,
  caller: Caller,
  filter: TransactionFilter,
): Promise<Listed & { items: Transaction[] }> {
  const { product_id, user_id } = filter;
  if (product_id !== undefined && !isUuid(product_id)) return { items: [], total: 0 };
  const listing = listingOf(caller, await askedUser(em, caller, user_id), filter);
  return readFresh(em, (reader) => readTransactions(reader, caller, listing, filter));
}

async function readTransactions(
  em: EntityManager,
  caller: Caller,
  listing: Listing,
  { page, limit, after, order = 'desc' }: ListWindow,
): Promise<Listed & { items: Transaction[] }> {
  const start = await startOfPage(after, (id) => findPosition(em, caller, id));
  const offset = start === undefined ? (BigInt(page) - 1n) * BigInt(limit) : 0n;
  const needed = BigInt(limit) + 1n;
  // Index-only scans find the page; only its rows are read from the table.
  const sources = sourcesOf(listing).map((source) => pageOf(source, { order, start, rows: needed + offset }));
  const read = await em.execute<Placed[]>(
    `select t.*, ${positionOf('t.created_at', 't.id')} as position from (select id from (${sources.map(({ sql }) => `(${sql})`).join(' union all ')}) found
       order by created_at ${order}, id ${order} limit ${needed} offset ${offset}) listed
     join transactions t using (id) order by t.created_at ${order}, t.id ${order}`,
    sources.flatMap(({ values }) => values),
  );
  const counted = await countOnce(start, ['transactions', sourcesOf(listing)], () => countTransactions(em, listing));
  const { rows, next } = cutPage(read, limit, counted);
  const items = rows.map((row) => em.map(Transaction, row));
  return { items, total: counted.total, next };
}

/**
 * Counts the matching rows: an owner's in a covering index, everybody's with the counters by reference type and type.
 */
async function countTransactions(em: EntityManager, listing: Listing): Promise<number> {
  let total = 0;
  for (const source of sourcesOf(listing)) total += await countSource(em, source);
  return total;
}

async function countSource(em: EntityManager, { table, conditions }: Source): Promise<number> {
  const overAll = conditions.every(({ sql }) => sql === 'reference_type = ?' || sql === 'type = ?');
  const source =
    table === 'transactions' && overAll
      ? 'select coalesce(sum(count), 0) as total from transaction_counts'
      : `select count(*) as total from ${table}`;
  const [count] = await em.execute<{ total: string }[]>(
    `${source} ${whereOf(conditions)}`,
    conditions.flatMap(({ values }) => values),
  );
  return Number(must(count, 'a count returns a row').total);
}

/**
 * Returns whether the caller may read the transaction: platform any, everybody their own, individuals those that credit
 * their accounts, users of type `organization` those of their organization's users and accounts.
 */
export async function mayReadTransaction(
  em: EntityManager,
  caller: Caller,
  { id, user_id, created_at }: Pick<Transaction, 'id' | 'user_id' | 'created_at'>,
): Promise<boolean> {
  if (isPlatform(caller) || user_id === caller.userId) return true;
  // A Date has no microseconds, so search the row's millisecond.
  const isIndividual = caller.userType === 'individual';
  const list = isIndividual ? 'transaction_receivers where user_id' : 'transaction_organizations where organization_id';
  const rows = await em.execute<unknown[]>(
    `select 1 from ${list} = ? and transaction_id = ? and created_at >= ? and created_at < ?`,
    [isIndividual ? caller.userId : caller.organizationId, id, created_at, new Date(created_at.getTime() + 1)],
  );
  return rows.length > 0;
}

/** Reads a transaction. Throws NOT_FOUND, and FORBIDDEN when it is someone else's (docs/contract.md 0). */
export async function getTransaction(em: EntityManager, caller: Caller, id: string): Promise<Transaction> {
  const transaction = await em.findOne(Transaction, { id });
  if (transaction === null) refuse('NOT_FOUND', 'the transaction was not found', { field: 'id' });
  if (!(await mayReadTransaction(em, caller, transaction)))
    refuse('FORBIDDEN', 'the transaction is not yours', { field: 'id' });
  return transaction;
}
