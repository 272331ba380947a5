import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';

export type Row = Record<string, SQLOutputValue>;

export interface Store {
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  /** Runs the work in a transaction; a nested call joins the outer one. */
  transaction<T>(work: () => T): T;
  close(): void;
}

const schema = `
  create table if not exists instruments (
    seq integer primary key autoincrement,
    request_id text not null unique,
    method_id text not null unique,
    reference_id text not null,
    method_reference_id text not null,
    payment_code text not null unique,
    expires_at integer,
    document text not null
  ) strict;
  create index if not exists instruments_reference on instruments (reference_id);
  create index if not exists instruments_method_reference on instruments (method_reference_id);
  create index if not exists instruments_expiry on instruments (expires_at) where expires_at is not null;
  create table if not exists payments (
    seq integer primary key autoincrement,
    id text not null unique,
    method_id text not null,
    created integer not null,
    document text not null
  ) strict;
  create index if not exists payments_method on payments (method_id, seq);
  create table if not exists transfers (
    seq integer primary key autoincrement,
    id text not null unique,
    reference_id text not null,
    next_at integer,
    document text not null
  ) strict;
  create index if not exists transfers_reference on transfers (reference_id);
  create index if not exists transfers_next on transfers (next_at) where next_at is not null;
  create table if not exists refunds (
    seq integer primary key autoincrement,
    id text not null unique,
    request_id text not null,
    reference_id text not null,
    next_at integer,
    document text not null
  ) strict;
  create index if not exists refunds_request on refunds (request_id);
  create index if not exists refunds_reference on refunds (reference_id);
  create index if not exists refunds_next on refunds (next_at) where next_at is not null;
  create table if not exists bank_accounts (
    bank_code text not null,
    number text not null,
    holder text,
    primary key (bank_code, number)
  ) strict;
  create table if not exists idempotency (
    route text not null,
    key text not null,
    fingerprint text not null,
    resource_id text not null,
    primary key (route, key)
  ) strict;
  create table if not exists lost_requests (key text primary key) strict;
  create table if not exists callbacks (
    seq integer primary key autoincrement,
    webhook_id text not null,
    body text not null,
    state text not null,
    created integer not null,
    due_at integer,
    attempts integer not null default 0,
    last_status integer
  ) strict;
  create index if not exists callbacks_due on callbacks (due_at) where due_at is not null;
  create table if not exists webhooks (
    seq integer primary key autoincrement,
    received_at text not null,
    headers text not null,
    body blob not null
  ) strict;
  create table if not exists mails (
    seq integer primary key autoincrement,
    id text not null,
    receiver text not null,
    document text not null
  ) strict;
  create index if not exists mails_receiver on mails (receiver, seq);
  create index if not exists mails_id on mails (id, seq);
  create table if not exists settings (name text primary key, value text not null) strict;
`;

/**
 * Opens the sandbox's storage. WAL with `synchronous = normal`: a commit has reached the operating system, so it
 * survives kill -9; only a power cut could lose the latest writes, and a full sync per request would make the sandbox
 * the slowest part of every measurement.
 */
export function openStore(dataDir: string): Store {
  mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(join(dataDir, 'sandbox.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000;');
  database.exec(schema);
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const prepare = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  let depth = 0;
  return {
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    all: (sql, ...values) => prepare(sql).all(...values),
    get: (sql, ...values) => prepare(sql).get(...values),
    transaction(work) {
      if (depth > 0) return work();
      depth += 1;
      database.exec('begin immediate');
      try {
        const result = work();
        database.exec('commit');
        return result;
      } catch (error) {
        database.exec('rollback');
        throw error;
      } finally {
        depth -= 1;
      }
    },
    close: () => database.close(),
  };
}
