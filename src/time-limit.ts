import { AsyncLocalStorage } from 'node:async_hooks';
import { isBegin, isRollback, type PoolClient } from './database/lost-connections.ts';
import { budgets } from './shared/budgets.ts';

/** Until when a piece of work may act, in milliseconds of `performance.now()`. */
export interface TimeLimit {
  /** From then on nothing of it reaches the database. */
  endsAt: number;
  /** From then on the provider is not waited for, so that time is left to write down what it said. */
  askUntil: number;
}

/** A connection of `pg` as it is limited here. */
export interface LimitedClient extends PoolClient {
  /** `I` outside a transaction, `T` in one, `E` in one that has failed. */
  getTransactionStatus(): string | null;
}

/** The work has used up its time: nothing more of it reaches the database. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
  readonly code = 'OUT_OF_TIME';

  constructor() {
    super('the time of this step is over, and another attempt may run: nothing more is written');
  }
}

const limits = new AsyncLocalStorage<TimeLimit>();

/**
 * Runs work that has to be over at a time: after it, no statement of the work is sent, and what is under way then is
 * ended by the database. Work that goes on meets OutOfTime at its next statement, and its transaction is rolled back.
 */
export function withinLimit<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
  return limits.run(limit, work);
}

/** Milliseconds that the work under way has left, infinite without a limit; 0 or less when its time is over. */
export function timeLeft(): number {
  const limit = limits.getStore();
  return limit === undefined ? Number.POSITIVE_INFINITY : limit.endsAt - performance.now();
}

/** Milliseconds for which the work under way may still wait for the provider, all its calls together. */
export function askingTimeLeft(): number {
  const limit = limits.getStore();
  return limit === undefined ? Number.POSITIVE_INFINITY : limit.askUntil - performance.now();
}

/** The database's time-out for a transaction that may take `ms` and not longer than the work that it belongs to. */
export const transactionTime = (ms: number): number => Math.max(1, Math.floor(Math.min(ms, timeLeft())));

// A running timer is not moved by another value: it has to be put out first.
const limitTransaction = (ms: number): string =>
  `set local transaction_timeout = 0; set local transaction_timeout = ${transactionTime(ms)}`;

/**
 * Makes a connection keep to the limit of whoever uses it. A transaction that begins shortly before the limit, or a
 * statement outside one, is given what is left, so that the database itself ends it in time.
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

  /** A refused `begin` would keep its connection for ever; what follows it is refused. */
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
