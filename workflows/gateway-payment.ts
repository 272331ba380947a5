import { continueAsNew, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { GatewayPaymentInput } from '../src/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/payments/payment-order.ts';
import {
  askTheProvider,
  collectPayment,
  expireAtProvider,
  firstStep,
  ledgerStep,
  type NotOpened,
  requestFromProvider,
} from './collect-payment.ts';

const { openPaymentOrder } = proxyLocalActivities<Activities>(firstStep);
const { settlePayment, closePayment } = proxyActivities<Activities>(ledgerStep);
const { confirmPayment } = proxyActivities<Activities>(askTheProvider);
const { expireInstrument } = proxyActivities<Activities>(expireAtProvider);

/** A payment by gateway, from its order's row to its end. */
export async function gatewayPayment({
  orderId,
  opening,
}: GatewayPaymentInput): Promise<PaymentOrderStatus | NotOpened> {
  const { status } = await collectPayment({
    again: opening === undefined,
    open: (at) => openPaymentOrder({ orderId, opening: opening ?? null, at }),
    request: (untilDeadlineMs) => {
      const { requestInstrument } = proxyActivities<Activities>({
        ...requestFromProvider,
        scheduleToCloseTimeout: untilDeadlineMs,
      });
      return requestInstrument({ orderId });
    },
    confirm: () => confirmPayment({ orderId }),
    expire: () => expireInstrument({ orderId }),
    settle: (payment) => settlePayment({ orderId, payment }),
    close: (closed, failureCode) => closePayment({ orderId, status: closed, failureCode }),
    continueAsNew: () => continueAsNew<typeof gatewayPayment>({ orderId }),
  });
  return status;
}
