import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { newId } from '../../shared/ids.ts';
import type { Difference } from './reconciliation.ts';

/** Stores a page's differences, each once per day, and records an event for those new, changed or back. */
export async function keepDifferences(
  tx: EntityManager,
  day: string,
  differences: readonly Difference[],
): Promise<void> {
  for (const { resourceType, subject, resourceId, reference, ours, theirs, isFurther = false } of differences) {
    await tx.execute('select keep_difference(?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?)', [
      ...[newId(), day, resourceType, subject, resourceId, reference],
      ...[asJson(ours), asJson(theirs), isFurther],
    ]);
  }
}

/** Resolves the day's open differences that no comparison since `begunAt` has found again; returns how many. */
export async function resolveGone(tx: EntityManager, day: string, begunAt: Date): Promise<number> {
  const gone = await tx.execute<{ id: string }[]>(
    `update reconciliations set state = 'resolved', updated_at = now()
     where day = ? and state = 'open' and met_at < ? returning id`,
    [day, begunAt],
  );
  for (const { id } of gone) {
    await recordEvent(tx, {
      event: 'RECONCILIATION_RESOLVED',
      resourceType: 'reconciliation',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { day },
    });
  }
  return gone.length;
}

/** How many differences of a day are open. */
export async function countOpen(em: EntityManager, day: string): Promise<number> {
  const [row] = await em.execute<{ open: number }[]>(
    "select count(*)::int as open from reconciliations where day = ? and state = 'open'",
    [day],
  );
  return row?.open ?? 0;
}

const asJson = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
