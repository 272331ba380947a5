import {
  ActivityFailure,
  type ActivityOptions,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  startChild,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Confirmation, OpenedOrder, PaymentOpening } from '../src/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/payments/payment-order.ts';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { askingWait, tellPayment, timeLeft } from './payment-progress.ts';
import { unmatchedReceipt } from './unmatched-receipt.ts';

export interface GatewayPaymentInput {
  orderId: string;
  /** What the request asked for. Absent when an order that has its row is looked after again. */
  opening?: PaymentOpening;
}

/** The request waits for this: the order's status once the provider has answered for the first time. */
export const awaitInstrument = defineUpdate<PaymentOrderStatus>('awaitInstrument');
/** Somebody said that something happened to this payment. A hint: it only makes the workflow ask. */
export const callbackArrived = defineSignal('callbackArrived');

const { openPaymentOrder } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});
const { settlePayment, closePayment } = proxyActivities<Activities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});
/** The provider's HTTP time-out (8 s) is shorter than this; an unknown answer is asked for again under the same key. */
const askTheProvider = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
} as const satisfies ActivityOptions;
const { expireInstrument, confirmPayment } = proxyActivities<Activities>(askTheProvider);

/**
 * A payment by gateway, from its row to its end: opens the order, gets an instrument from the provider, waits for the
 * payer until the deadline, and settles or closes. It believes nobody but the provider, whom it asks after each
 * callback, at growing intervals, and after expiring the instrument at the deadline.
 */
export async function gatewayPayment({
  orderId,
  opening,
}: GatewayPaymentInput): Promise<PaymentOrderStatus | 'REFUSED'> {
  let hints = 0;
  const opened = openPaymentOrder({ orderId, opening: opening ?? null, at: new Date(Date.now()).toISOString() });
  const instrument = opened.then((order) => getInstrument(orderId, order));
  setHandler(callbackArrived, () => {
    hints += 1;
  });
  setHandler(awaitInstrument, () => instrument);

  let order: OpenedOrder;
  let status: PaymentOrderStatus;
  try {
    order = await opened;
    status = await instrument;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return 'REFUSED';
  }
  let seen = 0;
  for (let round = 0; status === 'WAITING_PAYMENT' || status === 'PENDING'; round += 1) {
    const wait = askingWait(round, order.deadline);
    tellPayment(status, order, wait);
    if (wait > 0) await condition(() => hints > seen, wait);
    seen = hints;
    if (timeLeft(order.deadline) <= 0) await expireInstrument({ orderId });
    status = await resolve(orderId, status, await confirmPayment({ orderId }), order.deadline);
    if (workflowInfo().continueAsNewSuggested && hints === seen)
      await continueAsNew<typeof gatewayPayment>({ orderId });
  }
  tellPayment(status, order, 0);
  // A run that found its order final, or a hint that came with the last step: money that nobody applied is not lost.
  if (hints > seen || order.final) await suspendStrays(await confirmPayment({ orderId }));
  await condition(allHandlersFinished);
  return status;
}

async function getInstrument(orderId: string, order: OpenedOrder): Promise<PaymentOrderStatus> {
  tellPayment(order.status, order, 0);
  if (order.status !== 'PENDING' || timeLeft(order.deadline) <= 0) return order.status;
  const { requestInstrument } = proxyActivities<Activities>({
    ...askTheProvider,
    scheduleToCloseTimeout: timeLeft(order.deadline),
  });
  try {
    return await requestInstrument({ orderId });
  } catch (error) {
    // Nobody could tell until the deadline: the order is still open, and what follows asks by reference.
    if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) return 'PENDING';
    throw error;
  }
}

async function resolve(
  orderId: string,
  status: PaymentOrderStatus,
  seen: Confirmation,
  deadline: string,
): Promise<PaymentOrderStatus> {
  await suspendStrays(seen);
  if (seen.outcome === 'paid') return settlePayment({ orderId, payment: seen.payment });
  if (seen.outcome === 'refused') return closePayment({ orderId, status: 'FAILED', failureCode: seen.failureCode });
  const over = timeLeft(deadline) <= 0;
  if (seen.outcome === 'expired' || over) return closePayment({ orderId, status: 'EXPIRED', failureCode: null });
  return status;
}

/** Money under this order that cannot be applied to it gets an open workflow of its own. */
async function suspendStrays({ strays }: Confirmation): Promise<void> {
  for (const stray of strays) {
    try {
      await startChild(unmatchedReceipt, {
        workflowId: workflowIds.unmatchedReceipt(stray.receiptId),
        args: [stray],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: 'Money that could not be applied to its order',
      });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
    }
  }
}
