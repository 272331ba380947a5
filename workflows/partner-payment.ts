import { continueAsNew, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PartnerPaymentInput, PartnerPaymentStep } from '../src/money-in/collections/partner-payment.ts';
import type { PaymentOrderStatus } from '../src/money-in/payments/payment-order.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { collectPayment, type NotOpened } from './collect-payment.ts';
import { tellDetails } from './go-on.ts';
import { timeLeft } from './payment-progress.ts';
import { startDelivery } from './start-delivery.ts';
import {
  expiryStep,
  firstInstrumentStep,
  firstStep,
  instrumentStep,
  ledgerStep,
  patientProviderStep,
} from './step-options.ts';

const { openPartnerPayment } = proxyLocalActivities<Activities>(firstStep);
const { requestPartnerInstrument: requestFirst } = proxyLocalActivities<Activities>(firstInstrumentStep);
const { settlePartnerPayment, closePartnerPayment, releasePartnerPayment } = proxyActivities<Activities>(ledgerStep);
const { confirmPartnerPayment } = proxyActivities<Activities>(patientProviderStep);
const { expirePartnerInstrument } = proxyActivities<Activities>(expiryStep);

/**
 * Runs a partner's payment from its row to its final status, like any gateway payment. In addition, webhooks report the
 * outcome, and the net of a paid payment becomes available only after the settlement delay.
 */
export function partnerPayment({
  paymentId,
  opening,
  shown,
}: PartnerPaymentInput): Promise<PaymentOrderStatus | NotOpened> {
  let availableAt: string | null = null;
  const told = async ({ status, deliveryIds, ...at }: PartnerPaymentStep) => {
    availableAt = at.availableAt;
    for (const id of deliveryIds) await startDelivery(id, 'payment');
    return status;
  };
  return collectPayment({
    again: opening === undefined,
    shown,
    open: (at) => openPartnerPayment({ paymentId, opening: opening ?? null, at }),
    requestFirst: async () => told(await requestFirst({ paymentId })),
    request: async (untilDeadlineMs) => {
      const { requestPartnerInstrument } = proxyActivities<Activities>({
        ...instrumentStep,
        scheduleToCloseTimeout: untilDeadlineMs,
      });
      return told(await requestPartnerInstrument({ paymentId }));
    },
    confirm: (how) => confirmPartnerPayment({ paymentId, ...how }),
    expire: () => expirePartnerInstrument({ paymentId }),
    settle: async (payment) => told(await settlePartnerPayment({ paymentId, payment })),
    close: async (status, failureCode) => told(await closePartnerPayment({ paymentId, status, failureCode })),
    continueAsNew: () => continueAsNew<typeof partnerPayment>({ paymentId }),
    whenPaid: (opened) => release(paymentId, availableAt ?? opened.availableAt),
  });
}

/** Releases the net of a paid payment once its settlement delay is over. */
async function release(paymentId: string, availableAt: string | null): Promise<void> {
  if (availableAt === null) return;
  const when = formatWesternIndonesia(new Date(availableAt));
  tellDetails(`Paid; the net is pending and becomes available at ${when} (UTC+7).`);
  // If the database's clock is behind, the activity returns how early it was.
  for (let wait = timeLeft(availableAt); ; ) {
    if (wait > 0) await sleep(wait);
    const { deliveryIds, earlyByMs = 0 } = await releasePartnerPayment({ paymentId });
    for (const id of deliveryIds) await startDelivery(id, 'payment');
    if (earlyByMs <= 0) break;
    wait = earlyByMs;
  }
  tellDetails('Paid. The net is available.');
}
