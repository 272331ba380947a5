import { AsyncLocalStorage } from 'node:async_hooks';
import { budgets } from '../../shared/budgets.ts';
import { isBegin, isRollback, type PoolClient } from './lost-connections.ts';

/** The deadlines of a piece of work, in milliseconds of `performance.now()`. */
export interface TimeLimit {
  /** After this the work sends nothing more to the database. */
  endsAt: number;
  /** After this the work no longer waits for the provider, so that time is left to record the answer. */
  askUntil: number;
}

/** The part of a `pg` client that is limited here. */
export interface LimitedClient extends PoolClient {
  /** `I` outside a transaction, `T` in one, `E` in one that has failed. */
  getTransactionStatus(): string | null;
}

/** Work has passed its deadline and sends nothing more to the database. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
  readonly code = 'OUT_OF_TIME';

  constructor() {
    super('this step has timed out and another attempt may run: it writes nothing more');
  }
}

const limits = new AsyncLocalStorage<TimeLimit>();

/**
 * Runs work with a deadline, after which none of its statements is sent and the database cancels the running one. Work
 * that continues gets OutOfTime at its next statement, and its transaction is rolled back.
 */
export function withinLimit<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
  return limits.run(limit, work);
}

/** Milliseconds left for the current work; infinite without a limit, 0 or less after the deadline. */
export function timeLeft(): number {
  const limit = limits.getStore();
  return limit === undefined ? Number.POSITIVE_INFINITY : limit.endsAt - performance.now();
}

/** Milliseconds for which the current work may still wait for the provider, in all its calls together. */
export function askingTimeLeft(): number {
  const limit = limits.getStore();
  return limit === undefined ? Number.POSITIVE_INFINITY : limit.askUntil - performance.now();
}

/** Returns the time-out for a transaction that may take `ms`, but not longer than its work. */
export const transactionTime = (ms: number): number => Math.max(1, Math.floor(Math.min(ms, timeLeft())));

// PostgreSQL does not change a running timer; switch it off first.
const limitTransaction = (ms: number): string =>
  `set local transaction_timeout = 0; set local transaction_timeout = ${transactionTime(ms)}`;

/**
 * Makes a connection respect the limit of the work that uses it. A transaction that begins shortly before the limit, or
 * a statement outside one, gets the remaining time as its time-out in the database.
 */
export function keepLimits(client: LimitedClient): void {
  const query = client.query.bind(client);
  const usual = budgets.database.role.transaction;

  async function inTransaction(config: string, rest: unknown[]): Promise<unknown> {
    await query(`begin; ${limitTransaction(usual)}`);
    try {
      const result = await query(config, ...rest);
      if (timeLeft() <= 0) throw new OutOfTime();
      await query('commit');
      return result;
    } catch (error) {
      await query('rollback');
      throw error;
    }
  }

  /**
   * Rolls back and throws OutOfTime. A late `begin` is allowed, as refusing it would leak its connection; the next
   * statement is refused.
   */
  async function refuse(): Promise<never> {
    if (client.getTransactionStatus() !== 'I') await query('rollback');
    throw new OutOfTime();
  }

  client.query = (config, ...rest) => {
    const left = timeLeft();
    if (left > usual || typeof config !== 'string') return query(config, ...rest);
    if (isRollback(config) || (isBegin(config) && left <= 0)) return query(config, ...rest);
    if (left <= 0) return refuse();
    if (isBegin(config)) return query(`${config}; ${limitTransaction(usual)}`);
    return client.getTransactionStatus() === 'I' ? inTransaction(config, rest) : query(config, ...rest);
  };
}
