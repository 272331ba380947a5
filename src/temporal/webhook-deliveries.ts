import type { DeliveryWorkflows } from '../webhooks/webhook-delivery.ts';
import type { Temporal } from './temporal.ts';

export function createDeliveryWorkflows(temporal: Temporal): DeliveryWorkflows {
  const runOf = (deliveryId: string) => ({
    workflow: 'webhookDelivery' as const,
    subject: deliveryId,
    input: { deliveryId },
  });
  return {
    startWebhookDelivery: (deliveryId) => temporal.startOnce(runOf(deliveryId)),
    hastenWebhookDelivery: (deliveryId) => temporal.signalWithStart(runOf(deliveryId), 'redeliveryAsked'),
  };
}
