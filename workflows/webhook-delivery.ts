import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WebhookDeliveryInput, WebhookDeliveryStatus } from '../src/partners/webhooks/webhook-delivery.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';
import { webhookStep } from './step-options.ts';

/** Requests an attempt at once. */
export const redeliveryAsked = defineSignal('redeliveryAsked');

const { deliverWebhook } = proxyActivities<Activities>(webhookStep);

/**
 * Delivers a webhook: retries at growing intervals for three days, until it is delivered or parked. A redelivery
 * restarts the three days.
 */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<WebhookDeliveryStatus> {
  let asked = 0;
  setHandler(redeliveryAsked, () => {
    asked += 1;
  });
  let begunAt = Date.now();
  /** The redeliveries known to the last attempt. */
  let known: number | undefined;
  for (let attempt = 1; ; ) {
    const seen = asked;
    const startedAt = Date.now();
    const run = { attempt, elapsedMs: startedAt - begunAt, ...(known !== undefined && { redeliveries: known }) };
    const { status, waitMs, answer, deferred, redeliveries } = await deliverWebhook({ deliveryId, ...run });
    if (status !== 'pending') {
      // A redelivery request sets the row to pending before it signals, perhaps after this attempt recorded its outcome.
      if (asked > seen) continue;
      tellDetails(`Ended: ${status} (${answer}), after ${attempt} attempts.`);
      return status;
    }
    if (known !== undefined && redeliveries !== undefined && redeliveries !== known) {
      attempt = 1;
      begunAt = startedAt;
    }
    known = redeliveries;
    const next = formatWesternIndonesia(new Date(Date.now() + waitMs));
    tellDetails(`Attempt ${attempt}: ${answer}. Tries again at ${next} (UTC+7), or on redelivery.`);
    if (waitMs > 0) await condition(() => asked > seen, waitMs);
    if (!deferred) attempt += 1;
  }
}
