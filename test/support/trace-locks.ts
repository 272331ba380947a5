import pg from 'pg';
import type { LockMode } from '../../src/ledger/lock-order.ts';
import type { Stack } from './stack.ts';

/** Rows that a transaction waited for: their kind, the lock mode, and the statement. */
export interface TracedLock {
  kind: string;
  mode: LockMode | null;
  statement: string;
}

/** The locks of each transaction, in order. */
export type LockTrace = TracedLock[];

/** Kinds of rows, each with the statement that selects them. */
export type LockKinds = Readonly<Record<string, string>>;

const modes: Record<string, LockMode> = {
  AccessShareLock: 'key share',
  RowShareLock: 'share',
  ExclusiveLock: 'no key update',
  AccessExclusiveLock: 'update',
};

interface Waiting {
  blockers: number[];
  transaction: string;
  mode: string | null;
  statement: string;
}

const waitingQuery = `select pg_blocking_pids(a.pid) as blockers, a.pid || '/' || a.xact_start as transaction, a.query as statement,
    (select l.mode from pg_locks l where l.pid = a.pid and l.locktype = 'tuple' limit 1) as mode
  from pg_stat_activity a
  where a.datname = current_database() and a.wait_event_type = 'Lock'`;

/**
 * Records the order in which transactions lock rows during the work, whoever starts them. A separate connection locks
 * each kind of rows. A transaction that waits for one kind holds all its earlier locks; it is let through by releasing
 * that kind alone, which is locked again as soon as its rows are free. The record shows which locks a transaction held
 * while it waited, from which deadlocks follow, however fast the machine is.
 */
export async function traceLocks(
  { databaseUrls: { owner } }: Pick<Stack, 'databaseUrls'>,
  kinds: LockKinds,
  work: () => Promise<unknown>,
): Promise<LockTrace[]> {
  const traces = new Map<string, LockTrace>();
  await using holders = await openHolders(owner, kinds);
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  // A failure of the work is thrown below, after the holders have released their locks.
  working.catch(() => undefined);
  try {
    while (!isDone) {
      for (const { transaction, kind, mode, statement } of await holders.letOn()) {
        const trace = traces.get(transaction) ?? [];
        traces.set(transaction, trace);
        trace.push({ kind, mode, statement });
      }
      await holders.hold();
    }
  } finally {
    await holders.giveUp();
  }
  await working;
  return [...traces.values()];
}

async function openHolders(url: string, kinds: LockKinds) {
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const watcher = await connect();
  const holders = await Promise.all(
    Object.entries(kinds).map(async ([kind, select]) => {
      const client = await connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      return { kind, select, client, pid: rows[0]?.pid ?? 0, isOpen: false };
    }),
  );
  /** Locks each kind of rows; skips rows that another transaction has locked, which a later call locks. */
  const hold = () =>
    Promise.all(
      holders.map(async (holder) => {
        if (!holder.isOpen) await holder.client.query('begin');
        holder.isOpen = true;
        await holder.client.query(`select from (${holder.select} for update skip locked) held`);
      }),
    );
  const giveUp = async (some = holders) => {
    await Promise.all(
      some.map(async (holder) => {
        holder.isOpen = false;
        await holder.client.query('rollback');
      }),
    );
  };
  await hold();
  return {
    hold,
    giveUp: () => giveUp(),
    /** Lets through the transactions that wait for a holder, and returns them. */
    async letOn() {
      const { rows } = await watcher.query<Waiting>(waitingQuery);
      const found = rows.flatMap((waiting) => {
        const holder = holders.find(({ pid }) => waiting.blockers.includes(pid));
        return holder === undefined ? [] : [{ ...waiting, holder }];
      });
      await giveUp([...new Set(found.map(({ holder }) => holder))]);
      return found.map(({ transaction, holder: { kind }, mode, statement }) => ({
        transaction,
        kind,
        mode: modes[mode ?? ''] ?? null,
        statement,
      }));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([watcher, ...holders.map(({ client }) => client)].map((client) => client.end()));
    },
  };
}
