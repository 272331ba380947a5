import type { EntityManager } from '@mikro-orm/postgresql';
import type { CallbackWorkflows } from '../callbacks/callback-workflows.ts';
import { findOwner } from '../callbacks/reference-owners.ts';
import type { Gateway, ProviderRecord, UnreadableRecord } from '../gateway/gateway.ts';
import type { SweepFailure } from '../housekeeping/sweep-rows.ts';
import { strayOf } from '../payments/confirm-payment.ts';
import { hasReceipt } from '../payments/find-receipts.ts';
import { startOfWesternIndonesiaDay } from '../shared/clock.ts';
import { failpoint } from '../shared/failpoint.ts';
import { canonicalId } from '../shared/uuid.ts';
import { comparePayments, findMissingPayments } from './compare-payments.ts';
import { compareTransfers, findMissingTransfers } from './compare-transfers.ts';
import { countOpen, keepDifferences, resolveGone } from './keep-differences.ts';
import type { FoundMissing, MissingPage } from './missing-page.ts';
import { advanceDay, type DayProgress, type DayRun, endOfDay, finishDay, takeDay } from './reconciled-days.ts';
import type { Difference, ReconciliationSummary } from './reconciliation.ts';

/** What a comparison works with. */
export interface ReconcilingParts {
  gateway: Gateway;
  workflows: CallbackWorkflows;
  /** Told of differences whose owner could not be woken; they stay open, so the next run tries again. */
  failed: SweepFailure;
}

interface Period {
  from: Date;
  to: Date;
  signal?: AbortSignal;
}

/**
 * Compares the provider's records of a day (UTC+7) with our books, both ways and page by page: a run that dies is gone on
 * with. Differences become rows and events; those of an earlier run that are gone become `resolved`. It changes no
 * money; what is different here has its workflow woken, which asks the provider by itself. Safe to repeat. `takenBy`
 * names the run: another one is refused with SERVICE_UNAVAILABLE while it is at work. Throws ProviderUnknown when the
 * provider does not answer.
 */
export async function reconcileDay(
  em: EntityManager,
  parts: ReconcilingParts,
  { day, takenBy, signal }: { day: string; takenBy: string; signal?: AbortSignal },
): Promise<ReconciliationSummary> {
  const period = { from: startOfWesternIndonesiaDay(day), to: endOfDay(day), ...(signal && { signal }) };
  const run = await takeDay(em.fork(), day, takenBy);
  if (run.phase === 'records') await compareRecords(em, parts, run, period);
  if (run.phase !== 'payments') {
    const after = run.phase === 'transfers' ? run.cursor : null;
    await compareMissing(em, run, 'transfers', after, (page) =>
      findMissingTransfers(em, parts.gateway, { ...period, ...page }),
    );
  }
  const after = run.phase === 'payments' ? run.cursor : null;
  await compareMissing(em, run, 'payments', after, (page) =>
    findMissingPayments(em, parts.gateway, { ...period, ...page }),
  );
  return em.fork().transactional(async (tx) => {
    const resolved = await resolveGone(tx, day, run.startedAt);
    const counted = await finishDay(tx, run);
    return { day, ...counted, open: await countOpen(tx, day), resolved };
  });
}

async function compareRecords(
  em: EntityManager,
  parts: ReconcilingParts,
  run: DayRun,
  { signal, ...period }: Period,
): Promise<void> {
  const after = run.cursor === null ? {} : { after: run.cursor };
  for await (const records of parts.gateway.listRecords({ ...period, ...after }, { ...(signal && { signal }) })) {
    const unreadable = records.filter((record) => record.status === 'unreadable');
    const readable = records.filter((record) => record.status !== 'unreadable');
    const ofKind = (wanted: ProviderRecord['kind']) => readable.filter(({ kind }) => kind === wanted);
    const [transfers, payments] = [ofKind('transfer'), ofKind('payment')];
    const differences = [
      ...(await compareTransfers(em, transfers)),
      ...(await comparePayments(em, payments)),
      ...unreadable.map(differenceOf),
    ];
    await keepPage(em, run, differences, {
      phase: 'records',
      cursor: records.at(-1)?.entryId ?? run.cursor,
      compared: records.length,
      unsettled: records.filter(({ status }) => status === 'pending').length,
      listed: {
        transfers: transfers.map(({ reference }) => canonicalId(reference)),
        payments: payments.map(({ providerId }) => providerId),
      },
    });
    await failpoint('reconcile-day.page');
    await wakeOwners(em, parts, differences, signal);
  }
}

/** Nothing is held against it: what the books have of the same money is asked for by name. */
const differenceOf = ({ kind, providerId, reference, status, amount }: UnreadableRecord): Difference => ({
  resourceType: kind === 'transfer' ? 'payout' : 'payment',
  subject: providerId,
  resourceId: null,
  reference,
  ours: null,
  theirs: { status, amount },
});

async function compareMissing(
  em: EntityManager,
  run: DayRun,
  phase: 'transfers' | 'payments',
  begun: string | null,
  find: (page: Pick<MissingPage, 'day' | 'after'>) => Promise<FoundMissing>,
): Promise<void> {
  for (let after = begun; ; ) {
    const { differences, next } = await find({ day: run.day, after });
    const isLast = phase === 'transfers' && next === null;
    await keepPage(em, run, differences, { phase: isLast ? 'payments' : phase, cursor: next });
    if (next === null) return;
    after = next;
  }
}

/** A page and where the run goes on, together. */
function keepPage(
  em: EntityManager,
  run: DayRun,
  differences: readonly Difference[],
  progress: DayProgress,
): Promise<void> {
  return em.fork().transactional(async (tx) => {
    await advanceDay(tx, run, { ...progress, differences: differences.length });
    await keepDifferences(tx, run.day, differences);
  });
}

async function wakeOwners(
  em: EntityManager,
  parts: ReconcilingParts,
  differences: readonly Difference[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const difference of differences) {
    if (difference.theirs === null) continue;
    await wakeOwner(em, parts, difference, signal).catch((error: unknown) =>
      parts.failed('reconciliation', difference.subject, error),
    );
  }
}

/**
 * Who waits for news under the reference is told. Money that nobody waits for (its order is final, or unknown) is brought
 * into the books as any stray: a record does not name the payment method that the money is asked for by, so the provider
 * is asked for the payments under the reference. What was not made under one stays open for people.
 */
async function wakeOwner(
  em: EntityManager,
  { gateway, workflows }: ReconcilingParts,
  { resourceType, subject, reference, theirs }: Difference,
  signal: AbortSignal | undefined,
): Promise<void> {
  const owner = await findOwner(em, reference);
  if (owner?.isOpen) return owner.hint(workflows);
  if (resourceType !== 'payment' || theirs?.status !== 'succeeded') return;
  if (await hasReceipt(em, subject)) return;
  const instrument = await gateway.findInstrument(owner?.id ?? reference, { ...(signal && { signal }) });
  const payment = instrument?.payments.find(({ providerPaymentId }) => providerPaymentId === subject);
  if (payment !== undefined) await workflows.openUnmatchedReceipt(strayOf(payment));
}
