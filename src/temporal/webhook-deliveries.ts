import type { DeliveryWorkflows } from '../webhooks/webhook-delivery.ts';
import type { Hints } from './hints.ts';
import type { Temporal } from './temporal.ts';

/** How many deliveries one call hastens in the background, and how many of them at once. */
const mostHastened = 100;
const atOnce = 20;

export function createDeliveryWorkflows(temporal: Temporal, hints: Hints): DeliveryWorkflows {
  const runOf = (deliveryId: string) => ({
    workflow: 'webhookDelivery' as const,
    subject: deliveryId,
    input: { deliveryId },
  });
  const hasten = (deliveryId: string) => temporal.signalWithStart(runOf(deliveryId), 'redeliveryAsked');
  return {
    startWebhookDelivery: (deliveryId) => temporal.startOnce(runOf(deliveryId)),
    hastenWebhookDelivery: hasten,
    hastenWebhookDeliveries(deliveryIds) {
      void hints.send(async () => {
        // The first failure ends it: the sweep continues when Temporal is back.
        for (let start = 0; start < Math.min(deliveryIds.length, mostHastened); start += atOnce) {
          await Promise.all(deliveryIds.slice(start, start + atOnce).map(hasten));
        }
      });
    },
  };
}
