import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  type PayoutSettlement,
  type PayoutStanding,
  type PayoutStatus,
  type ProviderReport,
  type ProviderStatus,
  restOf,
} from '../src/money-out/payouts/payout.ts';
import { decisionLookMs, nextPayoutWaitMs } from '../src/shared/asking-intervals.ts';
import { isNote, notANote } from '../src/shared/plain-text.ts';
import { isUuid } from '../src/shared/uuid.ts';
import { tellPayout } from './payout-progress.ts';
import { hasLapsed, withRefusals } from './refusal.ts';
import { startDelivery } from './start-delivery.ts';
import { providerStep } from './step-options.ts';

/** The update that the request waits for: the money was reserved, or why not. */
export const awaitReservation = defineUpdate<PayoutStatus>('awaitReservation');
/** A hint that this transfer may have changed: the workflow asks the provider. */
export const callbackArrived = defineSignal('callbackArrived');
/**
 * Makes a payout final by hand: as two people have decided, or as the provider's final status proves. The sender of an
 * update is not authenticated, so the update decides nothing by itself: anything else is refused, with the provider's
 * status.
 */
export const settlePayout = defineUpdate<PayoutStatus, [PayoutSettlement]>('settlePayout');

const { askTransfer, sendTransfer, settlePayout: endByHand } = proxyActivities<Activities>(providerStep);

/** The workflow's result: the payout's status, or why there is no payout. */
export type PayoutEnd = PayoutStatus | 'REFUSED' | 'LAPSED';

/** History length, in events, after which the run continues as new. */
const longestHistory = 1500;

/** The state of a run. */
interface Run {
  payoutId: string;
  /** Undefined until the money is reserved. */
  payout: PayoutStanding | undefined;
  /** The number of hints received. */
  hints: number;
  said: ProviderStatus | null;
  /** Milliseconds for which the provider is not called for this payout. */
  restMs: number;
  /** The state last shown to operators. */
  told: string;
}

/**
 * A payout of any kind, from its reservation to its final state. Once the money is reserved (`reserved`, the kind's own
 * first step), sends the transfer; from then on only the provider's answer counts, requested after each callback and at
 * growing intervals for as long as it takes. If the provider does not know the transfer, repeats the identical request
 * a few times. A payout of unknown outcome stays pending with the money reserved until the provider or an operator
 * settles it. `isNew` is false if the workflow resumes a payout that has a row.
 */
export async function payOut(
  { payoutId, isNew }: { payoutId: string; isNew: boolean },
  reserved: Promise<PayoutStanding>,
): Promise<PayoutEnd> {
  const run: Run = { payoutId, payout: undefined, hints: 0, said: null, restMs: 0, told: '' };
  listen(run, reserved);
  try {
    run.payout = await reserved;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (!isNew) throw refusal;
    return hasLapsed(refusal) ? 'LAPSED' : 'REFUSED';
  }
  tell(run, 0);
  await waitForDecision(run, isNew);
  // A run restarted by a hint must still follow up on it.
  let seen = isNew ? run.hints : 0;
  if (isPending(run) && isNew) await proceed(run, 'send');
  else if (!isPending(run)) await proceed(run, 'ask');
  while (isPending(run)) {
    await waitForNews(run, seen);
    if (!isPending(run)) break;
    seen = run.hints;
    // If nothing was sent, send for the first time; the step checks that, and asks instead if something was sent.
    if (run.said === 'unsent' || run.said === null) await proceed(run, 'send');
    else await askOrRepeat(run);
    const isLong = workflowInfo().historyLength > longestHistory || workflowInfo().continueAsNewSuggested;
    if (isPending(run) && isLong && run.hints === seen) {
      await condition(allHandlersFinished);
      if (isPending(run)) await continueAsNew<(input: { payoutId: string }) => Promise<PayoutEnd>>({ payoutId });
    }
  }
  while (run.hints > seen) {
    seen = run.hints;
    await proceed(run, 'ask');
  }
  tell(run, 0);
  await condition(allHandlersFinished);
  return run.payout.status;
}

/**
 * Waits for people's decision if the payout must not be sent without one. Asks the provider at each check: a restored
 * database may lack the decision although the transfer was sent.
 */
async function waitForDecision(run: Run, isNew: boolean): Promise<void> {
  let seen = isNew ? run.hints : 0;
  while (run.payout?.isHeld && isPending(run)) {
    await condition(() => run.hints > seen || !isPending(run), decisionLookMs);
    if (!isPending(run)) break;
    seen = run.hints;
    await proceed(run, 'ask');
  }
}

const isPending = (run: Run): boolean => run.payout?.status === 'pending';
const now = (): string => new Date(Date.now()).toISOString();

/** Registers the handlers for requests, callbacks and operators. */
function listen(run: Run, reserved: Promise<PayoutStanding>): void {
  setHandler(
    callbackArrived,
    () => {
      run.hints += 1;
    },
    { description: 'Makes the workflow ask the provider now' },
  );
  setHandler(
    awaitReservation,
    async () => {
      // A request waits only if it found no row, so a restore has removed this run's row: check now, which ends this
      // run.
      if (run.payout !== undefined) run.hints += 1;
      return (await reserved).status;
    },
    { description: 'For the API' },
  );
  setHandler(
    settlePayout,
    async (settlement) => {
      await reserved;
      const status = await keep(run, await withRefusals(endByHand({ payoutId: run.payoutId, settlement, at: now() })));
      // The update did not make the payout final: the provider may already have a final status, so ask now.
      if (status === 'pending') run.hints += 1;
      return status;
    },
    {
      validator: refuseMalformedSettlement,
      description:
        'Settles the payout as two people have decided: { "decision_id" } of a decision made at POST /v1/decisions; or ' +
        'as the provider\'s final status proves: { "outcome": "succeeded" | "failed", "note" }',
    },
  );
}

async function keep(run: Run, standing: PayoutStanding): Promise<PayoutStatus> {
  run.payout = standing;
  for (const deliveryId of standing.deliveryIds) await startDelivery(deliveryId, 'payout');
  return standing.status;
}

function tell(run: Run, waitMs: number): void {
  if (run.payout !== undefined)
    run.told = tellPayout({ ...run.payout, payoutId: run.payoutId, said: run.said, waitMs }, run.told);
}

/** Sends the transfer or asks about it, and applies the provider's answer to the payout. */
async function proceed(run: Run, step: 'send' | 'ask'): Promise<ProviderReport> {
  const { payoutId } = run;
  const act = step === 'send' ? sendTransfer : askTransfer;
  const { report, payout } = await act({ payoutId, at: now() });
  run.restMs = restOf(report);
  if (run.restMs === 0 || report.said !== 'silent') run.said = report.said;
  await keep(run, payout);
  return report;
}

/** Asks; if the provider does not know the transfer and the step allows it, repeats the identical request. */
async function askOrRepeat(run: Run): Promise<void> {
  const report = await proceed(run, 'ask');
  if (report.said === 'not known' && report.repeat && isPending(run)) await proceed(run, 'send');
}

/** Waits until the next poll, a hint, or the payout's final state. */
async function waitForNews(run: Run, seen: number): Promise<void> {
  const elapsed = Date.now() - Date.parse(run.payout?.reservedAt ?? now());
  const wait = nextPayoutWaitMs(elapsed, run.restMs);
  tell(run, wait);
  await condition(() => run.hints > seen || !isPending(run), wait);
}

function refuseMalformedSettlement(settlement: PayoutSettlement): void {
  const complaint = complaintAbout({ ...settlement });
  if (complaint !== undefined) throw ApplicationFailure.nonRetryable(complaint, 'REQUEST_INVALID');
}

function complaintAbout({ decision_id, outcome, note, ...others }: Record<string, unknown>): string | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${unknown}: unknown field; decisions are made at POST /v1/decisions`;
  if (decision_id !== undefined) {
    if (outcome !== undefined || note !== undefined) return 'the decision has the outcome and the note';
    return typeof decision_id === 'string' && isUuid(decision_id) ? undefined : 'decision_id is the id of a decision';
  }
  if (outcome !== 'succeeded' && outcome !== 'failed') return 'outcome is "succeeded" or "failed"';
  return isNote(note) ? undefined : notANote;
}
