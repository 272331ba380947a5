import { boundEndpoints } from '../src/partners/webhooks/bound-endpoints.ts';
import { type DeliveryAttempt, deliverWebhook } from '../src/partners/webhooks/deliver-webhook.ts';
import { sweepDeliveries } from '../src/partners/webhooks/redeliver-webhook.ts';
import { createWebhookSender } from '../src/partners/webhooks/send-webhook.ts';
import { webhookDeliveryLaw } from '../src/partners/webhooks/webhook-delivery.ts';
import { targetRules } from '../src/partners/webhooks/webhook-target.ts';
import { counter } from '../src/platform/metrics/metrics.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of webhooks; an attempt is idempotent by its delivery and number. */
export function createWebhookActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { sealer, config, workflows } = deps;
  const send = createWebhookSender(targetRules(config));
  const bounds = boundEndpoints();
  const attempts = counter(
    deps.metrics,
    'amanah_webhook_attempts_total',
    'Attempts at webhooks by outcome: delivered, pending (retried later), parked.',
    ['status'],
  );
  // Initialized to 0: alarms fire on an increase, and a counter that first appears as 1 has not increased.
  for (const status of webhookDeliveryLaw.statuses) attempts.inc({ status }, 0);
  const deferrals = counter(
    deps.metrics,
    'amanah_webhook_deferrals_total',
    'Webhooks that had to wait because their endpoint was at its limit of simultaneous requests.',
    [],
  );
  return {
    deliverWebhook: step(deps, 'deliverWebhook', async (em, input: DeliveryAttempt) => {
      const progress = await deliverWebhook(em, { sealer, send, bounds }, input);
      if (progress.deferred) deferrals.inc();
      else if (!progress.unsent) attempts.inc({ status: progress.status });
      return progress;
    }),
    sweepDeliveries: step(deps, 'sweepDeliveries', (em, _: object) => sweepDeliveries(em, workflows, failed)),
  };
}
