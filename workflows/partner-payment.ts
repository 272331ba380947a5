import { continueAsNew, patched, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PartnerPaymentInput, PartnerPaymentStep, ReleaseStep } from '../src/collections/partner-payment.ts';
import type { PaymentOrderStatus } from '../src/payments/payment-order.ts';
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
 * A partner's collection, from its row to its end: like any gateway payment, but each final state is also sent by
 * webhook, and a paid net waits out the settlement delay before it becomes available.
 */
export async function partnerPayment({
  paymentId,
  opening,
  shown,
}: PartnerPaymentInput): Promise<PaymentOrderStatus | NotOpened> {
  let availableAt: string | null = null;
  const told = async ({
    status,
    deliveryId,
    deliveryIds = deliveryId ? [deliveryId] : [],
    ...at
  }: PartnerPaymentStep) => {
    availableAt = at.availableAt;
    for (const id of deliveryIds) await startDelivery(id, 'payment');
    return status;
  };
  const end = await collectPayment({
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
  if (end.status === 'PAID' && end.lookAround !== null) {
    await releaseBetweenLooks(paymentId, availableAt ?? end.opened.availableAt, end.lookAround);
  }
  return end.status;
}

/** Releases the net of a paid payment once its settlement delay is over. */
async function release(paymentId: string, availableAt: string | null): Promise<void> {
  if (availableAt === null) return;
  tellRelease(availableAt);
  // By the database's clock it may still be too early.
  for (let wait = timeLeft(availableAt); ; ) {
    if (wait > 0) await sleep(wait);
    const { deliveryIds = [], earlyByMs = 0 } = await releasePartnerPayment({ paymentId });
    for (const id of deliveryIds) await startDelivery(id, 'payment');
    if (earlyByMs <= 0) break;
    wait = earlyByMs;
  }
  tellDetails('Paid. The net is available.');
}

function tellRelease(availableAt: string): void {
  const when = formatWesternIndonesia(new Date(availableAt));
  tellDetails(`Paid, and owed in pending. The net becomes available at ${when} (UTC+7), by a timer.`);
}

/** The same as it was: each look holds the release up until the provider has answered. */
async function releaseBetweenLooks(
  paymentId: string,
  availableAt: string | null,
  lookAround: (waitMs: number) => Promise<void>,
): Promise<void> {
  if (availableAt === null) return;
  tellRelease(availableAt);
  const wait = timeLeft(availableAt);
  // This may take days: stray payments that arrive meanwhile are not left waiting that long.
  const isLooking = wait > 0 && patched('look-around-until-released');
  if (isLooking) await lookAround(wait);
  else if (wait > 0) await sleep(wait);
  // An older release returned nothing. When it is still too early by the database's clock, keep waiting.
  let released: ReleaseStep | null = await releasePartnerPayment({ paymentId });
  while (released?.earlyByMs) {
    await lookAround(released.earlyByMs);
    released = await releasePartnerPayment({ paymentId });
  }
  for (const id of released?.deliveryIds ?? []) await startDelivery(id, 'payment');
  if (isLooking) await lookAround(0);
  tellDetails('Paid. The net is available.');
}
