import type { EntityManager } from '@mikro-orm/postgresql';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { newId } from '../../shared/ids.ts';
import type { DayRun } from './reconciled-days.ts';
import type { Difference } from './reconciliation.ts';

/** Stores a page's differences, each once per day, and records an event for new, changed and reappeared ones. */
export async function keepDifferences(
  tx: EntityManager,
  { provider, day }: Pick<DayRun, 'provider' | 'day'>,
  differences: readonly Difference[],
): Promise<void> {
  for (const { resourceType, subject, resourceId, reference, ours, theirs, isFurther = false } of differences) {
    await tx.execute('select keep_difference(?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?)', [
      ...[newId(), provider, day, resourceType, subject, resourceId, reference],
      ...[asJson(ours), asJson(theirs), isFurther],
    ]);
  }
}

/**
 * Resolves the day's open differences that this comparison has not found again; returns how many. A transfer that no
 * payout requested stays one until it is booked, fails or turns out to be a payout's: the provider confirmed it, and may
 * list it late.
 */
export async function resolveGone(tx: EntityManager, { provider, day, startedAt }: DayRun): Promise<number> {
  const gone = await tx.execute<{ id: string }[]>(
    `update reconciliations set state = 'resolved', updated_at = now()
     where provider = ? and day = ? and state = 'open' and met_at < ?
       and (kind not in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER') or is_transfer_known(subject)) returning id`,
    [provider, day, startedAt],
  );
  for (const { id } of gone) {
    await recordAction(tx, byPlatform, 'RECONCILIATION_RESOLVED', ['reconciliation', id], { day });
  }
  return gone.length;
}

/** Counts the open differences of a day. */
export async function countOpen(em: EntityManager, { provider, day }: DayRun): Promise<number> {
  const [row] = await em.execute<{ open: number }[]>(
    "select count(*)::int as open from reconciliations where provider = ? and day = ? and state = 'open'",
    [provider, day],
  );
  return row?.open ?? 0;
}

const asJson = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
