import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Confirmation, ConfirmedPayment, OpenedOrder } from '../src/money-in/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/money-in/payments/payment-order.ts';
import { receiptReusePolicy } from '../src/money-in/payments/receipt.ts';
import { budgets } from '../src/shared/budgets.ts';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { askingWait, settlingWait, tellPayment, timeLeft } from './payment-progress.ts';
import { failureBehind, hasLapsed } from './refusal.ts';
import { unmatchedReceipt } from './unmatched-receipt.ts';

/** The request waits for this: the payment's status once the provider has answered the first time. */
export const awaitInstrument = defineUpdate<PaymentOrderStatus>('awaitInstrument');
/** Something may have happened to this payment. Only a hint: it makes the workflow ask the provider. */
export const callbackArrived = defineSignal('callbackArrived');

/** How a payment that was never opened ends. */
export type NotOpened = 'REFUSED' | 'LAPSED';

/** The steps that differ between a payment order and a partner's payment: whose row it is, and how it settles. */
export interface PaymentSteps<Opened extends OpenedOrder> {
  /** True when the workflow resumes from an existing row, so that a missing row is a defect and not a refusal. */
  again: boolean;
  /** What operators' search says of the payment already. */
  shown: PaymentOrderStatus | undefined;
  /** Creates the row; `at` is the workflow's clock, ISO 8601. */
  open(at: string): Promise<Opened>;
  /** Requests the instrument from the provider once, within the workflow task, or fails. */
  requestFirst(): Promise<PaymentOrderStatus>;
  /** Requests the instrument from the provider, retrying until the deadline. */
  request(untilDeadlineMs: number): Promise<PaymentOrderStatus>;
  /** Asks the provider; `briefly` only whether it still waits for the payment. */
  confirm(how?: { briefly: true }): Promise<Confirmation>;
  expire(): Promise<void>;
  settle(payment: ConfirmedPayment): Promise<PaymentOrderStatus>;
  close(status: 'FAILED' | 'EXPIRED', failureCode: string | null): Promise<PaymentOrderStatus>;
  /** Continues as new, from the row. */
  continueAsNew(): Promise<never>;
  /** What remains to be done once it is paid. Asking the provider about stray money delays nothing. */
  whenPaid?(opened: Opened): Promise<void>;
}

/**
 * A payment from its row to its end: opens it, requests an instrument from the provider, waits for the payer until the
 * deadline, and settles or closes. Only the provider's answer counts: it is asked after each callback, at growing
 * intervals, and after expiring the instrument at the deadline. While it says paid or pending, the payment stays open.
 */
export async function collectPayment<Opened extends OpenedOrder>(
  steps: PaymentSteps<Opened>,
): Promise<PaymentOrderStatus | NotOpened> {
  let hints = 0;
  const opening = steps.open(new Date(Date.now()).toISOString());
  const instrument = opening.then((opened) => getInstrument(steps, opened));
  // If opening is refused, the rejection is handled below; unhandled here, it would fail the workflow task.
  instrument.catch(() => undefined);
  setHandler(callbackArrived, () => {
    hints += 1;
  });
  let status: PaymentOrderStatus | undefined;
  setHandler(awaitInstrument, () => {
    // A request waits only while there is no row: a restore took this one back, then. It is looked for, and the run ends.
    if (status !== undefined) hints += 1;
    return instrument;
  });

  let opened: Opened;
  try {
    opened = await opening;
    status = await instrument;
    if (opened.isPaid) hints += 1;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (steps.again || isCancellation(refusal)) throw refusal;
    return hasLapsed(refusal) ? 'LAPSED' : 'REFUSED';
  }
  let seen = 0;
  /** Since when (epoch milliseconds) the provider says paid or pending, or the instrument cannot be expired. */
  let settlingSince: number | null = null;
  let callbacksCome = false;
  for (let round = 0; status === 'WAITING_PAYMENT' || status === 'PENDING'; round += 1) {
    const wait =
      settlingSince === null
        ? askingWait(round, opened.deadline, callbacksCome)
        : settlingWait(settlingSince, opened.deadline);
    tellPayment(status, opened, { waitMs: wait, settlingSince });
    if (wait > 0) await condition(() => hints > seen, wait);
    const isHinted = hints > seen;
    seen = hints;
    const isOverdue = timeLeft(opened.deadline) <= 0;
    const isOver = isOverdue && (await expire(steps));
    // Where callbacks come, one that did not is a payment that the provider shows by itself.
    const isRoutine: boolean = callbacksCome && !isHinted && !isOverdue && settlingSince === null;
    const said: Confirmation = await (isRoutine ? steps.confirm({ briefly: true }) : steps.confirm());
    await followRow(steps, status, said);
    // The order may have been cancelled meanwhile, which brings its deadline forward.
    opened = { ...opened, deadline: said.deadline };
    callbacksCome = said.callbacksCome ?? false;
    // A callback that is ahead of what the provider shows: asked soon again, as after the opening.
    if (isHinted && said.outcome === 'waiting') round = -1;
    // A deadline that passed while the provider was asked: the next round expires the instrument first.
    status = await resolve(steps, status, said, isOver);
    const isHeldUp: boolean = said.outcome === 'settling' || isOverdue;
    settlingSince = isHeldUp ? (settlingSince ?? Date.now()) : null;
    if (workflowInfo().continueAsNewSuggested && hints === seen) await steps.continueAsNew();
  }
  tellPayment(status, opened);
  // A payment that was final when this run began: a hint may have started the run.
  if (opened.final) seen = -1;
  let isDone = false;
  const looking = (async () => {
    for (;;) {
      await condition(() => hints > seen || isDone);
      if (hints === seen) return;
      seen = hints;
      const said = await steps.confirm();
      await followRow(steps, status, said);
      await suspendStrays(said);
    }
  })();
  // Awaited below; unhandled until then, a failure would fail the workflow task.
  looking.catch(() => undefined);
  // A row that is gone or open again does not wait for what remains to be done.
  if (status === 'PAID') await Promise.race([steps.whenPaid?.(opened), looking]);
  isDone = true;
  await looking;
  await condition(allHandlersFinished);
  return status;
}

async function getInstrument(
  steps: PaymentSteps<OpenedOrder>,
  { status, deadline, ...opened }: OpenedOrder,
): Promise<PaymentOrderStatus> {
  tellPayment(status, { status, deadline, ...opened }, undefined, steps.shown);
  const isOpen = status === 'PENDING' && timeLeft(deadline) > 0;
  // Within the workflow task, where a request may be waiting. An end that is found there was mostly written by an earlier
  // try of the task, a refusal that Temporal has not heard of: the step answers it once more, and what follows follows.
  const isWithinTask = !steps.again && (opened.final || (isOpen && timeLeft(deadline) > 2 * budgets.steps.instrument));
  if (!isOpen && !isWithinTask) return status;
  if (isWithinTask) {
    try {
      return await steps.requestFirst();
    } catch (error) {
      // No answer, or too many at a time: the step below asks under the same key, and joins what this one may have made.
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
      const rest = restOf(error);
      // Left alone until the deadline it is not asked any more, and a cancellation is not kept waiting.
      if (rest >= timeLeft(deadline)) return status;
      if (rest > 0) await sleep(rest);
    }
  }
  try {
    return await steps.request(timeLeft(deadline));
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // No answer until the deadline: the row exists, only the provider's answer may end it, and later steps ask for that
    // by reference.
    return 'PENDING';
  }
}

/** Milliseconds that the provider wants to be left alone after this failure of a step. */
function restOf(error: TemporalFailure): number {
  const failure = failureBehind(error);
  const isUnknown = failure instanceof ApplicationFailure && failure.type === 'PROVIDER_UNKNOWN';
  const [restMs] = isUnknown ? (failure.details ?? []) : [];
  return typeof restMs === 'number' ? restMs : 0;
}

/** Whether the instrument no longer accepts money: we expired it, or it was already final. */
async function expire(steps: PaymentSteps<OpenedOrder>): Promise<boolean> {
  try {
    await steps.expire();
    return true;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return false;
  }
}

/** Where a restore has taken back what this run knows of its row: continues from the row. */
async function followRow(
  steps: PaymentSteps<OpenedOrder>,
  status: PaymentOrderStatus,
  said: Confirmation,
): Promise<void> {
  if (said.status !== undefined && said.status !== status) await steps.continueAsNew();
}

async function resolve(
  steps: PaymentSteps<OpenedOrder>,
  status: PaymentOrderStatus,
  seen: Confirmation,
  isOver: boolean,
): Promise<PaymentOrderStatus> {
  // A payment is settled first: any further money then finds it paid and is treated as a double payment.
  const settled = seen.outcome === 'paid' ? await steps.settle(seen.payment) : null;
  await suspendStrays(seen);
  if (settled !== null) return settled;
  if (seen.outcome === 'refused') return steps.close('FAILED', seen.failureCode);
  // Paid or pending at the provider: whatever the deadline says, money may still have to be booked.
  if (seen.outcome === 'settling') return status;
  if (seen.outcome === 'expired' || isOver) return steps.close('EXPIRED', null);
  return status;
}

/** Starts a workflow for each payment under this reference that cannot be applied to it. */
export async function suspendStrays({ strays }: Pick<Confirmation, 'strays'>): Promise<void> {
  for (const stray of strays) {
    try {
      await startChild(unmatchedReceipt, {
        workflowId: workflowIds.unmatchedReceipt(stray.receiptId),
        args: [stray],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: receiptReusePolicy,
        staticSummary: 'Money that could not be applied to its order',
      });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
    }
  }
}
