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

/** The update that the request waits for: the payment's status after the provider's first answer. */
export const awaitInstrument = defineUpdate<PaymentOrderStatus>('awaitInstrument');
/** A hint that this payment may have changed: the workflow asks the provider. */
export const callbackArrived = defineSignal('callbackArrived');

/** The result for a payment that was never opened. */
export type NotOpened = 'REFUSED' | 'LAPSED';

/** The steps that differ between a payment order and a partner's payment. */
export interface PaymentSteps<Opened extends OpenedOrder> {
  /** Whether the workflow resumes from an existing row: a missing row is then a defect, not a refusal. */
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
  /** The work that remains once it is paid. Asking the provider about stray money does not delay it. */
  whenPaid?(opened: Opened): Promise<void>;
}

/**
 * Takes a payment from its row to its final state: opens it, requests an instrument from the provider, waits for the
 * payer until the deadline, and settles or closes it. Only the provider's answer counts: asks after each callback, at
 * growing intervals, and after expiring the instrument at the deadline. While the provider reports paid or pending, the
 * payment stays open.
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
    // A request waits only if it found no row, so a restore has removed this run's row: check now, which ends this run.
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
    // If callbacks generally arrive, a missing one means that the provider still shows the payment as unpaid.
    const isRoutine: boolean = callbacksCome && !isHinted && !isOverdue && settlingSince === null;
    const said: Confirmation = await (isRoutine ? steps.confirm({ briefly: true }) : steps.confirm());
    await followRow(steps, status, said);
    // The order may have been cancelled in between, which moves its deadline forward.
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
  // If the payment was final when this run began, a hint may have started the run.
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
  // This is awaited below; until then an unhandled failure would fail the workflow task.
  looking.catch(() => undefined);
  // Do not wait for the remaining work if the row is gone or open again.
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
  // Ask within the workflow task, because a request may be waiting. A final state found here usually comes from an
  // earlier attempt of the task, whose refusal never reached Temporal: the step returns it again, and the workflow
  // continues.
  const isWithinTask = !steps.again && (opened.final || (isOpen && timeLeft(deadline) > 2 * budgets.steps.instrument));
  if (!isOpen && !isWithinTask) return status;
  if (isWithinTask) {
    try {
      return await steps.requestFirst();
    } catch (error) {
      // There was no answer, or too many steps at a time: the step below asks under the same key and finds what this
      // one may have created.
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
      const rest = restOf(error);
      // If the provider must not be called until the deadline, do not ask again, so that a cancellation does not wait.
      if (rest >= timeLeft(deadline)) return status;
      if (rest > 0) await sleep(rest);
    }
  }
  try {
    return await steps.request(timeLeft(deadline));
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // There was no answer until the deadline: the row exists, only the provider's answer can make it final, and later
    // steps ask by reference.
    return 'PENDING';
  }
}

/** Milliseconds for which the provider must not be called after this failure of a step. */
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

/** Continues from the row if a restored database lacks what this run recorded in it. */
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
  // Settle one payment first: further money then finds the row paid and counts as a double payment.
  const settled = seen.outcome === 'paid' ? await steps.settle(seen.payment) : null;
  await suspendStrays(seen);
  if (settled !== null) return settled;
  if (seen.outcome === 'refused') return steps.close('FAILED', seen.failureCode);
  // Paid or pending at the provider: money may still have to be booked, even after the deadline.
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
