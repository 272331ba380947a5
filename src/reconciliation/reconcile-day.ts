import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkflowPort } from '../callbacks/deliver-callback.ts';
import { findWaiting } from '../callbacks/reference-owners.ts';
import { withTime } from '../database-time-outs.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { budgets } from '../shared/budgets.ts';
import { startOfWesternIndonesiaDay } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import { textArray } from '../shared/postgres.ts';
import { comparePayments, findMissingPayments } from './compare-payments.ts';
import { compareTransfers, findMissingTransfers } from './compare-transfers.ts';
import type { Difference, ReconciliationState, ReconciliationSummary } from './reconciliation.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Compares the provider's records of a day (UTC+7) with our books, both ways. Differences become rows and events; those
 * of an earlier run that are gone become `resolved`. It changes no money; what waits here and is different there has its
 * workflow woken, which asks the provider by itself. Safe to repeat. Throws ProviderUnknown, with nothing written, when the
 * provider does not answer.
 */
export async function reconcileDay(
  em: EntityManager,
  { gateway, workflows }: { gateway: Gateway; workflows: WorkflowPort },
  { day, signal }: { day: string; signal?: AbortSignal },
): Promise<ReconciliationSummary> {
  const from = startOfWesternIndonesiaDay(day);
  const period = { from, to: new Date(from.getTime() + dayMs) };
  const options = { ...(signal && { signal }) };
  const differences: Difference[] = [];
  const transfers = new Set<string>();
  const payments = new Set<string>();
  let compared = 0;
  for await (const records of gateway.listRecords(period, options)) {
    compared += records.length;
    const [ofTransfers, ofPayments] = [
      records.filter(({ kind }) => kind === 'transfer'),
      records.filter(({ kind }) => kind === 'payment'),
    ];
    for (const { reference } of ofTransfers) transfers.add(reference);
    for (const { providerId } of ofPayments) payments.add(providerId);
    differences.push(...(await compareTransfers(em, ofTransfers)), ...(await comparePayments(em, ofPayments)));
  }
  differences.push(...(await findMissingTransfers(em, gateway, { ...period, seen: transfers, ...options })));
  differences.push(...(await findMissingPayments(em, gateway, { ...period, seen: payments, ...options })));
  const written = await withTime(em.fork(), budgets.database.reconciliation, (tx) => writeDown(tx, day, differences));
  for (const { reference, theirs } of differences) {
    if (theirs !== null) await (await findWaiting(em, reference))?.hint(workflows, reference);
  }
  return { day, compared, differences: differences.length, ...written };
}

async function writeDown(
  tx: EntityManager,
  day: string,
  differences: readonly Difference[],
): Promise<{ open: number; resolved: number }> {
  const kept: string[] = [];
  let open = 0;
  for (const difference of differences) {
    const { id, state, news } = await keep(tx, day, difference);
    kept.push(id);
    if (state === 'open') open += 1;
    if (news) await tell(tx, 'RECONCILIATION_DIFFERENCE', id, day, difference);
  }
  const gone = await tx.execute<{ id: string }[]>(
    `update reconciliations set state = 'resolved', updated_at = now()
     where day = ? and state = 'open' and id <> all(?::uuid[]) returning id`,
    [day, textArray(kept)],
  );
  for (const { id } of gone) await tell(tx, 'RECONCILIATION_RESOLVED', id, day, {});
  return { open, resolved: gone.length };
}

/** Inserts a difference, or meets it again: one that has changed, or had been resolved, is open anew. */
async function keep(
  tx: EntityManager,
  day: string,
  { resourceType, subject, resourceId, reference, ours, theirs }: Difference,
): Promise<{ id: string; state: ReconciliationState; news: boolean }> {
  const [before] = await tx.execute<{ id: string; state: ReconciliationState; same: boolean }[]>(
    `select id, state, ours is not distinct from ?::jsonb and theirs is not distinct from ?::jsonb as same
     from reconciliations where day = ? and resource_type = ? and subject = ? for update`,
    [asJson(ours), asJson(theirs), day, resourceType, subject],
  );
  if (before?.same && before.state !== 'resolved') return { ...before, news: false };
  const id = before?.id ?? newId();
  await tx.execute(
    `insert into reconciliations (id, day, resource_type, subject, resource_id, reference, ours, theirs)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb) on conflict (day, resource_type, subject) do update
       set resource_id = excluded.resource_id, ours = excluded.ours, theirs = excluded.theirs, state = 'open',
         updated_at = now()`,
    [id, day, resourceType, subject, resourceId, reference, asJson(ours), asJson(theirs)],
  );
  return { id, state: 'open', news: true };
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
