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

/** The update for which the request waits: the payment's status after the provider's first answer. */
export const awaitInstrument = defineUpdate<PaymentOrderStatus>('awaitInstrument');
/** A hint that something may have happened to this payment: it makes the workflow ask the provider. */
export const callbackArrived = defineSignal('callbackArrived');

/** The result for a payment that was never opened. */
export type NotOpened = 'REFUSED' | 'LAPSED';

/** The steps that differ between a payment order and a partner's payment: its row, and how it settles. */
export interface PaymentSteps<Opened extends OpenedOrder> {
  /** True when the workflow resumes from an existing row, so that a missing row is a defect and not a refusal. */
  again: boolean;
  /** The current search attribute of the payment. */
  shown: PaymentOrderStatus | undefined;
  /** Creates the row; `at` is the workflow's clock, ISO 8601. */
  open(at: string): Promise<Opened>;
  /** Requests the instrument from the provider once, within the workflow task, or fails. */
  requestFirst(): Promise<PaymentOrderStatus>;
  /** Requests the instrument from the provider, retrying until the deadline. */
  request(untilDeadlineMs: number): Promise<PaymentOrderStatus>;
  /** Asks the provider; with `briefly`, only whether it still waits for the payment. */
  confirm(how?: { briefly: true }): Promise<Confirmation>;
  expire(): Promise<void>;
  settle(payment: ConfirmedPayment): Promise<PaymentOrderStatus>;
  close(status: 'FAILED' | 'EXPIRED', failureCode: string | null): Promise<PaymentOrderStatus>;
  /** Continues as new, from the row. */
  continueAsNew(): Promise<never>;
  /** The rest of the work once it is paid. Asking the provider about stray money delays nothing. */
  whenPaid?(opened: Opened): Promise<void>;
}

/**
 * A payment from its row to its final state: opens it, requests an instrument from the provider, waits for the payer
 * until the deadline, and settles or closes it. Only the provider's answer counts: the workflow asks after each
 * callback, at growing intervals, and after expiring the instrument at the deadline. While the provider reports paid or
 * pending, the payment stays open.
 */
export async function collectPayment<Opened extends OpenedOrder>(
  steps: PaymentSteps<Opened>,
): Promise<PaymentOrderStatus | NotOpened> {
  let hints = 0;
  const opening = steps.open(new Date(Date.now()).toISOString());
  const instrument = opening.then((opened) => getInstrument(steps, opened));
  // A refused opening is handled below; an unhandled rejection here would fail the workflow task.
  instrument.catch(() => undefined);
  setHandler(callbackArrived, () => {
    hints += 1;
  });
  let status: PaymentOrderStatus | undefined;
  setHandler(awaitInstrument, () => {
    // A request waits only while there is no row, so a restore has removed this one. Look for it, which ends the run.
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
  /** When (epoch milliseconds) the provider first reported paid or pending, or the instrument could not be expired. */
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
    // When callbacks arrive in general, a missing one means that the provider shows the payment anyway.
    const isRoutine: boolean = callbacksCome && !isHinted && !isOverdue && settlingSince === null;
    const said: Confirmation = await (isRoutine ? steps.confirm({ briefly: true }) : steps.confirm());
    await followRow(steps, status, said);
    // The order may have been cancelled meanwhile, which brings its deadline forward.
    opened = { ...opened, deadline: said.deadline };
    callbacksCome = said.callbacksCome ?? false;
    // A callback may be ahead of the provider's records: ask again soon, as after the opening.
    if (isHinted && said.outcome === 'waiting') round = -1;
    // If the deadline passed during the call, the next round expires the instrument first.
    status = await resolve(steps, status, said, isOver);
    const isHeldUp: boolean = said.outcome === 'settling' || isOverdue;
    settlingSince = isHeldUp ? (settlingSince ?? Date.now()) : null;
    if (workflowInfo().continueAsNewSuggested && hints === seen) await steps.continueAsNew();
  }
  tellPayment(status, opened);
  // The payment may have been final when this run began, as a hint may have started it.
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
  // Within the workflow task, as a request may be waiting. A final state found here was usually written by an earlier
  // attempt of the task, a refusal that never reached Temporal: the step returns it again, and the workflow continues
  // from it.
  const isWithinTask = !steps.again && (opened.final || (isOpen && timeLeft(deadline) > 2 * budgets.steps.instrument));
  if (!isOpen && !isWithinTask) return status;
  if (isWithinTask) {
    try {
      return await steps.requestFirst();
    } catch (error) {
      // No answer, or too many at a time: the step below asks under the same key, and so finds what this one may have
      // created.
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
      const rest = restOf(error);
      // If the provider must be left alone until the deadline, do not ask again, so that a cancellation does not wait.
      if (rest >= timeLeft(deadline)) return status;
      if (rest > 0) await sleep(rest);
    }
  }
  try {
    return await steps.request(timeLeft(deadline));
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // No answer until the deadline: the row exists and only the provider's answer may make it final; later steps ask by
    // reference.
    return 'PENDING';
  }
}

/** How long the provider must not be called after this failure of a step, in milliseconds. */
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

/** Continues from the row if a restore has removed what this run recorded in it. */
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
  // Settle one payment first: any further money then finds it paid and is treated as a double payment.
  const settled = seen.outcome === 'paid' ? await steps.settle(seen.payment) : null;
  await suspendStrays(seen);
  if (settled !== null) return settled;
  if (seen.outcome === 'refused') return steps.close('FAILED', seen.failureCode);
  // Paid or pending at the provider: even after the deadline, money may still have to be booked.
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
