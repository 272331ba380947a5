import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { budgets } from '../shared/budgets.ts';
import { allowTime } from './database-time-outs.ts';
import { beginOnReplica, isFaultOfReplica, tellOfRead } from './replica.ts';

/**
 * Reads parts from one snapshot of the database, in a transaction of its own that may last as long as a download: on the
 * replica if it has all that was committed before, otherwise on the primary. Holds a connection until the parts were read
 * to the end or `return` was called.
 */
export async function* readInSnapshot<Part>(
  em: EntityManager,
  read: (tx: EntityManager) => AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  const onReplica = await beginOnReplica(em);
  if (onReplica !== null) {
    let handedOn = false;
    try {
      for await (const part of readIn(onReplica, read)) {
        handedOn = true;
        yield part;
      }
      tellOfRead(em, 'replica');
      return;
    } catch (error) {
      // Another snapshot would not continue what was handed on.
      if (handedOn || !isFaultOfReplica(error)) throw error;
      tellOfRead(em, 'failed', error);
    }
  }
  const tx = em.fork();
  await tx.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  yield* readIn(tx, read);
}

/** Reads in a transaction that has begun, and ends it. */
async function* readIn<Part>(
  tx: EntityManager,
  read: (tx: EntityManager) => AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  try {
    await allowTime(tx, budgets.database.download);
    yield* read(tx);
  } finally {
    await tx.rollback();
  }
}
