import { cancellationSignal } from '@temporalio/activity';
import { confirmPartnerPayment, expirePartnerInstrument } from '../src/collections/ask-provider.ts';
import { closePartnerPayment } from '../src/collections/close-partner-payment.ts';
import { openPartnerPayment } from '../src/collections/open-partner-payment.ts';
import type { PartnerPaymentOpening } from '../src/collections/partner-payment.ts';
import { requestPartnerInstrument } from '../src/collections/request-partner-instrument.ts';
import { releasePartnerPayment, settlePartnerPayment } from '../src/collections/settle-partner-payment.ts';
import { withTime } from '../src/database-time-outs.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { counter } from '../src/http/metrics.ts';
import { sweepPartnerAnswers } from '../src/partners/idempotency.ts';
import type { ConfirmedPayment } from '../src/payments/payment-contract.ts';
import { budgets } from '../src/shared/budgets.ts';
import { type DeliveryAttempt, deliverWebhook } from '../src/webhooks/deliver-webhook.ts';
import { sweepDeliveries } from '../src/webhooks/redeliver-webhook.ts';
import { createWebhookSender } from '../src/webhooks/send-webhook.ts';
import { targetRules } from '../src/webhooks/webhook-target.ts';
import { reportSweepFailure, step } from './step.ts';

interface Payment {
  paymentId: string;
}

/** Activities of partners' payments and of webhooks, one per business step; each is idempotent by its id. */
export function createPartnerActivities(deps: Dependencies) {
  const { gateway, sealer, config, workflows } = deps;
  const send = createWebhookSender(targetRules(config));
  const attempts = counter(
    deps.metrics,
    'amanah_webhook_attempts_total',
    'Attempts at webhooks by what came of them: delivered, pending (tried again later), parked.',
    ['status'],
  );
  return {
    openPartnerPayment: step(
      deps,
      'openPartnerPayment',
      (em, input: Payment & { opening: PartnerPaymentOpening | null; at: string }) =>
        openPartnerPayment(em, sealer, input),
    ),
    requestPartnerInstrument: step(deps, 'requestPartnerInstrument', (em, { paymentId }: Payment) => {
      const hands = { gateway, sealer, publicUrl: config.PUBLIC_URL };
      return requestPartnerInstrument(em, hands, { paymentId, signal: cancellationSignal() });
    }),
    confirmPartnerPayment: step(deps, 'confirmPartnerPayment', (em, { paymentId }: Payment) =>
      confirmPartnerPayment(em, gateway, { paymentId, signal: cancellationSignal() }),
    ),
    expirePartnerInstrument: step(deps, 'expirePartnerInstrument', (em, { paymentId }: Payment) =>
      expirePartnerInstrument(em, gateway, { paymentId, signal: cancellationSignal() }),
    ),
    settlePartnerPayment: step(deps, 'settlePartnerPayment', (em, input: Payment & { payment: ConfirmedPayment }) =>
      settlePartnerPayment(em, { sealer, workflows }, input),
    ),
    closePartnerPayment: step(
      deps,
      'closePartnerPayment',
      (em, input: Payment & { status: 'FAILED' | 'EXPIRED'; failureCode: string | null }) =>
        closePartnerPayment(em, sealer, input),
    ),
    releasePartnerPayment: step(deps, 'releasePartnerPayment', (em, input: Payment) =>
      releasePartnerPayment(em, input),
    ),
    deliverWebhook: step(deps, 'deliverWebhook', async (em, input: DeliveryAttempt) => {
      const progress = await deliverWebhook(em, { sealer, send }, input);
      attempts.inc({ status: progress.status });
      return progress;
    }),
    sweepDeliveries: step(deps, 'sweepDeliveries', (em, _: object) =>
      sweepDeliveries(em, workflows, reportSweepFailure(deps)),
    ),
    sweepPartnerAnswers: step(deps, 'sweepPartnerAnswers', (em, _: object) =>
      withTime(em, budgets.database.sweep, (tx) => sweepPartnerAnswers(tx, sealer)),
    ),
  };
}
