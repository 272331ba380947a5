import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import { newId } from '../shared/ids.ts';
import type { Difference, ReconciliationState } from './reconciliation.ts';

/** Stores a page's differences, each once per day, and records an event for those new, changed or back. */
export async function keepDifferences(
  tx: EntityManager,
  day: string,
  differences: readonly Difference[],
): Promise<void> {
  for (const difference of differences) {
    const { id, news } = await keep(tx, day, difference);
    if (news) await tell(tx, 'RECONCILIATION_DIFFERENCE', id, day, difference);
  }
}

/** Resolves the day's open differences that no comparison since `begunAt` has found again; returns how many. */
export async function resolveGone(tx: EntityManager, day: string, begunAt: Date): Promise<number> {
  const gone = await tx.execute<{ id: string }[]>(
    `update reconciliations set state = 'resolved', updated_at = now()
     where day = ? and state = 'open' and met_at < ? returning id`,
    [day, begunAt],
  );
  for (const { id } of gone) await tell(tx, 'RECONCILIATION_RESOLVED', id, day, {});
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

/** Inserts a difference, or updates a known one: one that has changed, or was resolved, is open again. */
async function keep(
  tx: EntityManager,
  day: string,
  { resourceType, subject, resourceId, reference, ours, theirs }: Difference,
): Promise<{ id: string; news: boolean }> {
  const [before] = await tx.execute<{ id: string; state: ReconciliationState; same: boolean }[]>(
    `select id, state, ours is not distinct from ?::jsonb and theirs is not distinct from ?::jsonb as same
     from reconciliations where day = ? and resource_type = ? and subject = ? for update`,
    [asJson(ours), asJson(theirs), day, resourceType, subject],
  );
  if (before?.same && before.state !== 'resolved') {
    await tx.execute('update reconciliations set met_at = now() where id = ?', [before.id]);
    return { id: before.id, news: false };
  }
  const id = before?.id ?? newId();
  await tx.execute(
    `insert into reconciliations (id, day, resource_type, subject, resource_id, reference, ours, theirs)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb) on conflict (day, resource_type, subject) do update
       set resource_id = excluded.resource_id, ours = excluded.ours, theirs = excluded.theirs, state = 'open',
         updated_at = now(), met_at = now()`,
    [id, day, resourceType, subject, resourceId, reference, asJson(ours), asJson(theirs)],
  );
  return { id, news: true };
}

const asJson = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

function tell(tx: EntityManager, event: string, id: string, day: string, about: Partial<Difference>): Promise<void> {
  const { reference, ours, theirs } = about;
  return recordEvent(tx, {
    event,
    resourceType: 'reconciliation',
    resourceId: id,
    actorId: null,
    requestId: null,
    data: { day, reference, ours, theirs },
  });
}
