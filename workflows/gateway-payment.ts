import { continueAsNew, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { GatewayPaymentInput } from '../src/money-in/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../src/money-in/payments/payment-order.ts';
import { collectPayment, type NotOpened } from './collect-payment.ts';
import {
  expiryStep,
  firstInstrumentStep,
  firstStep,
  instrumentStep,
  ledgerStep,
  patientProviderStep,
} from './step-options.ts';

const { openPaymentOrder } = proxyLocalActivities<Activities>(firstStep);
const { requestInstrument: requestFirst } = proxyLocalActivities<Activities>(firstInstrumentStep);
const { settlePayment, closePayment } = proxyActivities<Activities>(ledgerStep);
const { confirmPayment } = proxyActivities<Activities>(patientProviderStep);
const { expireInstrument } = proxyActivities<Activities>(expiryStep);

/** A gateway payment, from its order's row until it is final. */
export function gatewayPayment({
  orderId,
  opening,
  shown,
}: GatewayPaymentInput): Promise<PaymentOrderStatus | NotOpened> {
  return collectPayment({
    again: opening === undefined,
    shown,
    open: (at) => openPaymentOrder({ orderId, opening: opening ?? null, at }),
    requestFirst: () => requestFirst({ orderId }),
    request: (untilDeadlineMs) => {
      const { requestInstrument } = proxyActivities<Activities>({
        ...instrumentStep,
        scheduleToCloseTimeout: untilDeadlineMs,
      });
      return requestInstrument({ orderId });
    },
    confirm: (how) => confirmPayment({ orderId, ...how }),
    expire: () => expireInstrument({ orderId }),
    settle: (payment) => settlePayment({ orderId, payment }),
    close: (closed, failureCode) => closePayment({ orderId, status: closed, failureCode }),
    continueAsNew: () => continueAsNew<typeof gatewayPayment>({ orderId }),
  });
}
