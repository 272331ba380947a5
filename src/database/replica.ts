import type { Configuration } from '@mikro-orm/core';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { ConfigError } from '../config.ts';
import { budgets, type DatabaseBudget } from '../shared/budgets.ts';
import { errorCodeOf, isDataError, isDomainError } from '../shared/errors.ts';
import { allowTime, withTime } from './database-time-outs.ts';

/** Who answered a read that a replica may answer: the replica, or the primary because the replica was late, away or failed. */
export type ReadOutcome = 'replica' | 'late' | 'away' | 'failed' | 'resting';

interface Replica {
  orm: MikroORM;
  tell: (outcome: ReadOutcome, error?: unknown) => void;
  /** Not asked again before this, in milliseconds of `performance.now()`. */
  restsUntil: number;
}

/** The replica of each primary, by the configuration that all managers of the primary share. */
const replicas = new WeakMap<Configuration, Replica>();

/** Lets lists, documents and checks of this primary be read from a replica of it; `tell` hears of each such read. */
export function attachReplica(primary: MikroORM, replica: MikroORM, tell: Replica['tell'] = () => undefined): void {
  replicas.set(primary.config, { orm: replica, tell, restsUntil: 0 });
}

/** What `await_replay` says. */
const notReplayed = 'AM011';
const replayWithin = `${budgets.replica.replayed} milliseconds`;

/**
 * Begins a transaction on the replica that reads one snapshot, in which all is visible that was committed before this
 * call, by whomever. Null when there is no replica, when it is late or away, or within a transaction: then the primary
 * has to answer. The caller ends it with `rollback`.
 */
export async function beginOnReplica(em: EntityManager): Promise<EntityManager | null> {
  const replica = replicas.get(em.config);
  if (replica === undefined || em.isInTransaction()) return null;
  if (performance.now() < replica.restsUntil) {
    replica.tell('resting');
    return null;
  }
  const [primary] = await em.execute<[{ position: string }]>('select pg_current_wal_lsn()::text as position');
  const beginning = beginAt(replica.orm.em.fork(), primary.position);
  try {
    return await inTime(beginning, budgets.replica.begun);
  } catch (error) {
    // One that does not answer must not hold up each request anew.
    replica.restsUntil = performance.now() + budgets.replica.rests;
    replica.tell(errorCodeOf(error) === notReplayed ? 'late' : 'away', error);
    // One that answers after all: nobody waits for it any more.
    void beginning.then(end, () => undefined);
    return null;
  }
}

/**
 * One message for waiting and for the beginning of the snapshot: behind a pooler only what is sent together is sure to
 * reach the same server. The wait has a transaction of its own, because a snapshot taken before it would not see what
 * it waited for.
 */
async function beginAt(tx: EntityManager, position: string): Promise<EntityManager> {
  await tx.begin({ readOnly: true });
  try {
    await tx.execute(
      `select await_replay(?, ?); commit; start transaction isolation level repeatable read, read only`,
      [position, replayWithin],
    );
    return tx;
  } catch (error) {
    await end(tx);
    throw error;
  }
}

const end = (tx: EntityManager): Promise<void> => tx.rollback().catch(() => undefined);

async function inTime<T>(work: Promise<T>, withinMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the replica does not answer')), withinMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells how a read that was begun on the replica of this primary ended. */
export const tellOfRead = (em: EntityManager, outcome: ReadOutcome, error?: unknown): void =>
  replicas.get(em.config)?.tell(outcome, error);

const statementTimeOut = '57014';

/**
 * Whether a read that failed on the replica may succeed on the primary: not a refusal, nor what the primary would answer
 * the same or take as long for.
 */
export const isFaultOfReplica = (error: unknown): boolean =>
  !isDomainError(error) && !isDataError(error) && errorCodeOf(error) !== statementTimeOut;

/**
 * Reads from the replica if there is one that has replayed all that was committed before this call, otherwise from the
 * primary; on the primary again if the replica fails meanwhile. The replica reads in one snapshot. For lists and checks
 * only: what decides something (who the caller is, what they may, what an account holds) is read from the primary.
 */
export async function readFresh<T>(
  em: EntityManager,
  read: (reader: EntityManager) => Promise<T>,
  budget?: DatabaseBudget,
): Promise<T> {
  const tx = await beginOnReplica(em);
  if (tx !== null) {
    try {
      if (budget !== undefined) await allowTime(tx, budget);
      const result = await read(tx);
      tellOfRead(em, 'replica');
      return result;
    } catch (error) {
      if (!isFaultOfReplica(error)) throw error;
      tellOfRead(em, 'failed', error);
    } finally {
      await end(tx);
    }
  }
  return budget === undefined ? read(em) : withTime(em, budget, read);
}

/** What a server says of itself. */
interface Identity {
  cluster: string;
  database: string;
  role: string;
  replica: boolean;
}

const identify = async (em: EntityManager): Promise<Identity> => {
  const [it] = await em.execute<[Identity]>(
    `select (select system_identifier::text from pg_control_system()) as cluster, current_database() as database,
       current_user as role, pg_is_in_recovery() as replica`,
  );
  return it;
};

/**
 * Throws ConfigError if DATABASE_READ_URL leads to something other than a replica of the primary, as the same role. A
 * replica that is away is told of, and no reason not to start.
 */
export async function refuseOtherReplica(primary: MikroORM): Promise<void> {
  const replica = replicas.get(primary.config);
  if (replica === undefined) return;
  const ours = await identify(primary.em.fork());
  let theirs: Identity;
  try {
    theirs = await inTime(identify(replica.orm.em.fork()), budgets.requests.away);
  } catch (error) {
    replica.tell('away', error);
    return;
  }
  const wrong = [
    !theirs.replica && 'it is not a replica',
    theirs.cluster !== ours.cluster && 'it is not of the cluster that DATABASE_URL names',
    theirs.database !== ours.database && `it is the database ${theirs.database} and not ${ours.database}`,
    theirs.role !== ours.role && `its role is ${theirs.role} and not ${ours.role}`,
  ].filter((sentence) => sentence !== false);
  if (wrong.length > 0) throw new ConfigError(`DATABASE_READ_URL cannot be used: ${wrong.join('; ')}.`);
}
