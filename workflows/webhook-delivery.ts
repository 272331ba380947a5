import { condition, defineSignal, patched, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import type { WebhookDeliveryInput, WebhookDeliveryStatus } from '../src/webhooks/webhook-delivery.ts';
import { tellDetails } from './go-on.ts';
import { webhookStep } from './step-options.ts';

/** Requests an attempt at once. */
export const redeliveryAsked = defineSignal('redeliveryAsked');

const { deliverWebhook } = proxyActivities<Activities>(webhookStep);

/** One webhook: tried at growing intervals for three days, until it is delivered or parked. */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<WebhookDeliveryStatus> {
  let asked = 0;
  setHandler(redeliveryAsked, () => {
    asked += 1;
  });
  const begunAt = Date.now();
  for (let attempt = 1; ; ) {
    const seen = asked;
    const elapsedMs = Date.now() - begunAt;
    const { status, waitMs, answer, deferred } = await deliverWebhook({ deliveryId, attempt, elapsedMs });
    if (status !== 'pending') {
      // The requester set it to pending first: perhaps after this attempt had written how it ended.
      if (asked > seen && patched('asked-while-ending')) continue;
      tellDetails(`Ended: ${status} (${answer}), after ${attempt} attempts.`);
      return status;
    }
    const next = formatWesternIndonesia(new Date(Date.now() + waitMs));
    tellDetails(`Attempt ${attempt}: ${answer}. Tries again at ${next} (UTC+7), or on redelivery.`);
    await condition(() => asked > seen, waitMs);
    if (!deferred) attempt += 1;
  }
}
