import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { budgets, type DatabaseBudget } from '../../shared/budgets.ts';
import { withPatience } from '../../shared/patience.ts';
import { allowTime } from './database-time-outs.ts';
import { beginOnReplica, tellOfAnswer, tellOfFailure } from './replica.ts';

/**
 * Reads parts from one snapshot of the database, in its own transaction, which may last as long as a download: on the
 * replica if it has replayed everything committed before, otherwise on the primary. Holds a connection until the parts
 * are read to the end or `return` is called. A read that fails on the replica before its first part is repeated on the
 * primary.
 */
export async function* readInSnapshot<Part>(
  em: EntityManager,
  read: (tx: EntityManager) => AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  const onReplica = await beginOnReplica(em);
  if (onReplica !== null) {
    const { part: within } = budgets.replica;
    const parts = readIn(onReplica, read, { ...budgets.database.download, statement: within });
    let handedOn = false;
    try {
      for (;;) {
        const next = await withPatience(within, () => parts.next());
        if (next.done) break;
        handedOn = true;
        yield next.value;
      }
      tellOfAnswer(em);
      return;
    } catch (error) {
      tellOfFailure(em, error);
      // Another snapshot would not match the parts already returned.
      if (handedOn) throw error;
    } finally {
      // Not awaited, because it waits for any statement still running there.
      void parts.return().catch(() => undefined);
    }
  }
  const tx = em.fork();
  await tx.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  yield* readIn(tx, read, budgets.database.download);
}

/** Reads in an open transaction, then rolls it back. */
async function* readIn<Part>(
  tx: EntityManager,
  read: (tx: EntityManager) => AsyncGenerator<Part, void, undefined>,
  budget: DatabaseBudget,
): AsyncGenerator<Part, void, undefined> {
  try {
    await allowTime(tx, budget);
    yield* read(tx);
  } finally {
    await tx.rollback();
  }
}
