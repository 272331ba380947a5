import type { EntityManager } from '@mikro-orm/postgresql';
import type { CallbackWorkflows, FindOwner } from '../../money-in/callbacks/callback-workflows.ts';
import { strayOf } from '../../money-in/payments/confirm-payment.ts';
import { hasReceipt } from '../../money-in/payments/find-receipts.ts';
import { noteGone } from '../../money-out/payouts/beyond-ours.ts';
import type { Gateway, Gateways, ProviderRecord, UnreadableRecord } from '../../platform/gateway/gateway.ts';
import type { SweepFailure } from '../../platform/housekeeping/sweep-rows.ts';
import { startOfWesternIndonesiaDay } from '../../shared/clock.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { comparePayments, findMissingPayments } from './compare-payments.ts';
import { compareTransfers, findBookedAndGone, findMissingTransfers } from './compare-transfers.ts';
import { countOpen, keepDifferences, resolveGone } from './keep-differences.ts';
import type { FoundMissing, MissingPage } from './missing-page.ts';
import { advanceDay, type DayProgress, type DayRun, endOfDay, finishDay, takeDay } from './reconciled-days.ts';
import type { Difference, ReconciliationSummary } from './reconciliation.ts';

/** The dependencies of a comparison. */
export interface ReconcilingParts {
  gateways: Gateways;
  workflows: CallbackWorkflows;
  findOwner: FindOwner;
  /** Called for differences whose workflow could not be woken; they stay open, so the next run tries again. */
  failed: SweepFailure;
}

type Comparing = Omit<ReconcilingParts, 'gateways'> & { gateway: Gateway };

interface Period {
  from: Date;
  to: Date;
  signal?: AbortSignal;
}

/**
 * Compares each provider's records of a day (UTC+7) with our books, in both directions and page by page, so that an
 * interrupted run can be resumed. Differences become rows and events; those of an earlier run that are gone become
 * `resolved`. Moves no money; signals the workflow behind a difference, which queries the provider itself. Safe to
 * repeat. `takenBy` names the run: while it is active, another one gets SERVICE_UNAVAILABLE. Throws ProviderUnknown
 * when a provider does not answer, once the others are compared.
 */
export async function reconcileDay(
  em: EntityManager,
  { gateways, ...parts }: ReconcilingParts,
  taking: Taking,
): Promise<ReconciliationSummary> {
  const summary = { day: taking.day, compared: 0, differences: 0, open: 0, resolved: 0 };
  const failures: unknown[] = [];
  for (const provider of gateways.names) {
    const comparing = { ...parts, gateway: gateways.of(provider) };
    const found = await reconcileWith(em, comparing, taking).catch((error: unknown) => void failures.push(error));
    if (!found) continue;
    for (const figure of ['compared', 'differences', 'open', 'resolved'] as const) summary[figure] += found[figure];
  }
  if (failures.length > 0) throw failures[0];
  return summary;
}

interface Taking {
  day: string;
  takenBy: string;
  signal?: AbortSignal;
}

async function reconcileWith(
  em: EntityManager,
  parts: Comparing,
  { day, takenBy, signal }: Taking,
): Promise<Omit<ReconciliationSummary, 'day'>> {
  const { provider } = parts.gateway;
  const period = { from: startOfWesternIndonesiaDay(day), to: endOfDay(day), ...(signal && { signal }) };
  const run = await takeDay(em.fork(), { provider, day }, takenBy);
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
    const resolved = await resolveGone(tx, run);
    const counted = await finishDay(tx, run);
    return { ...counted, open: await countOpen(tx, run), resolved };
  });
}

async function compareRecords(
  em: EntityManager,
  parts: Comparing,
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
      ...(await compareTransfers(em, run.provider, transfers)),
      ...(await comparePayments(em, payments)),
      ...unreadable.map(differenceOf),
    ];
    await keepPage(em, run, differences, {
      phase: 'records',
      cursor: records.at(-1)?.entryId ?? run.cursor,
      compared: records.length,
      unsettled: records.filter(({ status }) => status === 'pending').length,
      gone: await findBookedAndGone(em, transfers),
      listed: {
        transfers: transfers.map(({ reference }) => canonicalId(reference)),
        payments: payments.map(({ providerId }) => providerId),
      },
    });
    await failpoint('reconcile-day.page');
    await wakeOwners(em, parts, differences, { ...period, ...(signal && { signal }) });
  }
}

/** An unreadable record is not compared with our books: our rows for the same money are looked up at the provider. */
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
  find: (page: Pick<MissingPage, 'provider' | 'day' | 'after'>) => Promise<FoundMissing>,
): Promise<void> {
  for (let after = begun; ; ) {
    const { differences, next } = await find({ provider: run.provider, day: run.day, after });
    const isLast = phase === 'transfers' && next === null;
    await keepPage(em, run, differences, { phase: isLast ? 'payments' : phase, cursor: next });
    if (next === null) return;
    after = next;
  }
}

/** Stores a page and the run's progress in one transaction. */
function keepPage(
  em: EntityManager,
  run: DayRun,
  differences: readonly Difference[],
  { gone = [], ...progress }: DayProgress & { gone?: readonly ProviderRecord[] },
): Promise<void> {
  return em.fork().transactional(async (tx) => {
    await advanceDay(tx, run, { ...progress, differences: differences.length });
    for (const record of gone) await noteGone(tx, record);
    await keepDifferences(tx, run, differences);
  });
}

async function wakeOwners(
  em: EntityManager,
  parts: Comparing,
  differences: readonly Difference[],
  period: Period,
): Promise<void> {
  for (const difference of differences) {
    if (difference.theirs === null) continue;
    await wakeOwner(em, parts, difference, period).catch((error: unknown) =>
      parts.failed('reconciliation', difference.subject, error),
    );
  }
}

/**
 * Signals the workflow that waits for the reference. A payment without a waiting workflow (its order is final or
 * unknown) is booked like any unmatched payment; its record lacks the payment method, so it is looked up by reference.
 * A payment without a reference stays an open difference for operators.
 */
async function wakeOwner(
  em: EntityManager,
  { gateway, workflows, findOwner }: Comparing,
  { resourceType, subject, reference, theirs }: Difference,
  { from: paidAt, signal }: Period,
): Promise<void> {
  const owner = await findOwner(em, { provider: gateway.provider, reference, paidAt });
  if (owner?.isOpen) return owner.hint(workflows);
  if (resourceType !== 'payment' || theirs?.status !== 'succeeded') return;
  if (await hasReceipt(em, subject)) return;
  const options = { ...(signal && { signal }) };
  const instrument = await gateway.findInstrument(owner?.id ?? reference, options);
  const payment =
    instrument === null
      ? await gateway.findReusable(owner?.id ?? reference, options)
      : instrument.payments.find(({ providerPaymentId }) => providerPaymentId === subject);
  if (!payment) return;
  const { providerPaymentMethodId } = payment;
  await workflows.openUnmatchedReceipt(
    strayOf(gateway.provider, { providerPaymentId: subject, providerPaymentMethodId }),
  );
}
