import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { budgets } from '../shared/budgets.ts';
import { allowTime } from './database-time-outs.ts';

/**
 * Reads parts from one snapshot of the database, in a transaction of its own that may last as long as a download. Holds
 * a connection until the parts were read to the end or `return` was called.
 */
export async function* readInSnapshot<Part>(
  em: EntityManager,
  read: (tx: EntityManager) => AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  const tx = em.fork();
  await tx.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    await allowTime(tx, budgets.database.download);
    yield* read(tx);
  } finally {
    await tx.rollback();
  }
}
