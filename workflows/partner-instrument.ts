import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type {
  InstrumentLook,
  PartnerInstrumentInput,
  PartnerInstrumentStatus,
} from '../src/money-in/partner-instruments/partner-instrument.ts';
import { paymentWaitMs } from '../src/shared/asking-intervals.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { callbackArrived, type NotOpened, suspendStrays } from './collect-payment.ts';
import { tellDetails } from './go-on.ts';
import { partnerPayment } from './partner-payment.ts';
import { hasLapsed } from './refusal.ts';
import { startDelivery } from './start-delivery.ts';
import { firstStep, providerStep } from './step-options.ts';

/** The update that the request waits for: the instrument's state once the provider has answered. */
export const awaitPaymentCode = defineUpdate<PartnerInstrumentStatus>('awaitPaymentCode');

const { openPartnerInstrument } = proxyLocalActivities<Activities>(firstStep);
const { obtainPaymentCode, collectInstrumentPayments } = proxyActivities<Activities>(providerStep);

/** History length, in events, after which the run continues as new. */
const longestHistory = 1500;

/**
 * A reusable number or code while it is open: after each callback and at intervals, asks the provider for payments to
 * it and records each as a payment of the partner.
 */
export async function partnerInstrument({
  instrumentId,
  opening,
}: PartnerInstrumentInput): Promise<PartnerInstrumentStatus | NotOpened> {
  let hints = 0;
  const opened = openPartnerInstrument({ instrumentId, opening: opening ?? null });
  const code = opened.then((status) => (status === 'closed' ? status : obtainPaymentCode({ instrumentId })));
  // A refused opening is handled below; an unhandled rejection here would fail the workflow task.
  code.catch(() => undefined);
  setHandler(callbackArrived, () => {
    hints += 1;
  });
  let status: PartnerInstrumentStatus | undefined;
  setHandler(awaitPaymentCode, () => {
    // A request waits only if it found no row, so a restore has removed this run's row: check now, which ends this run.
    if (status !== undefined) hints += 1;
    return code;
  });
  try {
    status = await code;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined || isCancellation(refusal)) throw refusal;
    return hasLapsed(refusal) ? 'LAPSED' : 'REFUSED';
  }
  let seen = opening === undefined ? -1 : 0;
  let callbacksCome = false;
  let hasMore = false;
  for (let round = 0; status === 'active' || hasMore || hints > seen; round += 1) {
    const waitMs = paymentWaitMs(round, { callbacksCome });
    tell(waitMs);
    if (!hasMore) await condition(() => hints > seen, waitMs);
    if (hints > seen) round = -1;
    // A hint that arrives while many pages are read causes another poll.
    if (!hasMore) seen = hints;
    const look: InstrumentLook = await collectInstrumentPayments({ instrumentId });
    await follow(look);
    callbacksCome = look.callbacksCome;
    status = look.status;
    hasMore = look.hasMore;
    const isLong = workflowInfo().historyLength > longestHistory || workflowInfo().continueAsNewSuggested;
    // The next run begins from the row and polls at once.
    if (status === 'active' && (isLong || look.lacksCode)) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof partnerInstrument>({ instrumentId });
    }
  }
  tellDetails('Ended: closed. Money that still arrives is held for the operators.');
  await condition(allHandlersFinished);
  return status;
}

/** Starts the workflows for new payments: webhooks, the release of nets, and cases of unmatched money. */
async function follow({ deliveryIds, waiting, strays }: InstrumentLook): Promise<void> {
  for (const deliveryId of deliveryIds) await startDelivery(deliveryId, 'payment');
  for (const paymentId of waiting) {
    try {
      await startChild(partnerPayment, {
        workflowId: workflowIds.partnerPayment(paymentId),
        args: [{ paymentId }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: 'A payment to a reusable instrument',
      });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
    }
  }
  await suspendStrays({ strays });
}

function tell(waitMs: number): void {
  const until = formatWesternIndonesia(new Date(Date.now() + waitMs));
  tellDetails(`Open for payments. Asks the provider at ${until} (UTC+7), or on a callback.`);
}
