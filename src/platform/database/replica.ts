import type { Configuration } from '@mikro-orm/core';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { budgets, type DatabaseBudget } from '../../shared/budgets.ts';
import { ConfigError, errorCodeOf, isDataError, isDomainError } from '../../shared/errors.ts';
import { withPatience } from '../../shared/patience.ts';
import { allowTime, withTime } from './database-time-outs.ts';

/** Which server answered a read: the replica, or the primary because the replica was lagging, down or failed. */
export type ReadOutcome = 'replica' | 'late' | 'away' | 'failed' | 'resting';

interface Replica {
  orm: MikroORM;
  tell: (outcome: ReadOutcome, error?: unknown) => void;
  /** Not used again before this, in milliseconds of `performance.now()`. */
  restsUntil: number;
}

/** The replica of each primary, keyed by the configuration that all managers of the primary share. */
const replicas = new WeakMap<Configuration, Replica>();

/** Enables reading lists, documents and checks of this primary from its replica; `tell` is called for each read. */
export function attachReplica(primary: MikroORM, replica: MikroORM, tell: Replica['tell'] = () => undefined): void {
  replicas.set(primary.config, { orm: replica, tell, restsUntil: 0 });
}

/**
 * The end of the primary's written WAL, and its timeline, since a failover starts a new one. Commits with
 * `synchronous_commit = off` may not be written yet.
 */
interface LogPosition {
  position: string;
  timeline: number;
}

/** The SQLSTATE with which `await_replay` fails. */
const notReplayed = 'AM011';
/** The error of a server in recovery when asked for its own position. */
const inRecovery = '55000';
const replayWithin = `${budgets.replica.replayed} milliseconds`;

/**
 * Begins a transaction on the replica that reads one snapshot with everything committed before this call. The caller
 * ends it with `rollback`. Returns null if the primary must answer: without a replica, if it lags or is unreachable, or
 * within a transaction.
 */
export async function beginOnReplica(em: EntityManager): Promise<EntityManager | null> {
  const replica = replicas.get(em.config);
  if (replica === undefined || em.isInTransaction()) return null;
  if (performance.now() < replica.restsUntil) {
    replica.tell('resting');
    return null;
  }
  const primary = await findPosition(em, replica);
  if (primary === null) return null;
  const beginning = beginAt(replica.orm.em.fork(), primary);
  try {
    return await withPatience(budgets.replica.begun, () => beginning);
  } catch (error) {
    leaveAlone(replica, errorCodeOf(error) === notReplayed ? 'late' : 'away', error);
    // Ends a transaction that begins too late.
    void beginning.then(end, () => undefined);
    return null;
  }
}

/** Returns the primary's position, or null during its recovery in a failover, in which the primary answers reads. */
async function findPosition(em: EntityManager, replica: Replica): Promise<LogPosition | null> {
  try {
    const [primary] = await em.execute<[LogPosition]>(
      `select pg_current_wal_lsn()::text as position,
         ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer as timeline`,
    );
    return primary;
  } catch (error) {
    if (errorCodeOf(error) !== inRecovery) throw error;
    leaveAlone(replica, 'away', error);
    return null;
  }
}

/** Lets only the primary answer for a while, so that an unresponsive replica does not delay every request. */
function leaveAlone(replica: Replica, outcome: ReadOutcome, error: unknown): void {
  replica.restsUntil = performance.now() + budgets.replica.rests;
  replica.tell(outcome, error);
}

/**
 * Sends the wait and the start of the snapshot in one message: behind a pooler only statements sent together are sure
 * to reach the same server. The wait has its own transaction, as a snapshot taken before it would not see what it
 * waited for.
 */
async function beginAt(tx: EntityManager, { position, timeline }: LogPosition): Promise<EntityManager> {
  await tx.begin({ readOnly: true });
  try {
    await tx.execute(
      ['select await_replay(?, ?, ?)', 'commit', 'start transaction isolation level repeatable read, read only'].join(
        '; ',
      ),
      [position, timeline, replayWithin],
    );
    return tx;
  } catch (error) {
    await end(tx);
    throw error;
  }
}

const end = (tx: EntityManager): Promise<void> => tx.rollback().catch(() => undefined);

/** Reports that this primary's replica has answered a read. */
export const tellOfAnswer = (em: EntityManager): void => replicas.get(em.config)?.tell('replica');

/**
 * Reports that a read failed on this primary's replica, which is then not used for a while. Rethrows an error that the
 * primary would also throw: a refusal, or a value that it cannot represent. A time-out may be specific to the replica.
 */
export function tellOfFailure(em: EntityManager, error: unknown): void {
  if (isDomainError(error) || isDataError(error)) throw error;
  const replica = replicas.get(em.config);
  if (replica !== undefined) leaveAlone(replica, 'failed', error);
}

/**
 * Reads from the replica if it has replayed everything committed before this call, otherwise from the primary. Repeats
 * the read on the primary if the replica fails or takes more than half of a statement's time. The replica reads in one
 * snapshot, which may be newer than other reads from the primary, so read data that belongs together with the same
 * `reader`. For lists and checks only: read data for decisions (the caller, permissions, balances) from the primary.
 */
export async function readFresh<T>(
  em: EntityManager,
  read: (reader: EntityManager) => Promise<T>,
  budget?: DatabaseBudget,
): Promise<T> {
  const tx = await beginOnReplica(em);
  if (tx !== null) {
    const within = (budget ?? budgets.database.role).statement / 2;
    const reading = async () => {
      if (budget !== undefined) await allowTime(tx, { ...budget, statement: within });
      return await read(tx);
    };
    try {
      const result = await withPatience(within, reading);
      tellOfAnswer(em);
      return result;
    } catch (error) {
      tellOfFailure(em, error);
    } finally {
      // Not awaited, because it waits for any statement still running there.
      void end(tx);
    }
  }
  return budget === undefined ? read(em) : withTime(em, budget, read);
}

/** A server's description of itself. */
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
 * Throws ConfigError unless DATABASE_READ_URL leads to a replica of the primary, with the same role. A replica that is
 * down is reported, but does not prevent the start.
 */
export async function refuseOtherReplica(primary: MikroORM): Promise<void> {
  const replica = replicas.get(primary.config);
  if (replica === undefined) return;
  const ours = await identify(primary.em.fork());
  let theirs: Identity;
  try {
    theirs = await withPatience(budgets.requests.away, () => identify(replica.orm.em.fork()));
  } catch (error) {
    replica.tell('away', error);
    return;
  }
  const wrong = [
    !theirs.replica && 'it is not a replica',
    theirs.cluster !== ours.cluster && 'it belongs to another cluster than DATABASE_URL',
    theirs.database !== ours.database && `it is the database ${theirs.database} and not ${ours.database}`,
    theirs.role !== ours.role && `its role is ${theirs.role} and not ${ours.role}`,
  ].filter((sentence) => sentence !== false);
  if (wrong.length > 0) throw new ConfigError(`DATABASE_READ_URL cannot be used: ${wrong.join('; ')}.`);
}
