import { workflowIds } from '../shared/workflow-ids.ts';
import type { DeliveryWorkflows } from '../webhooks/webhook-delivery.ts';
import type { Temporal } from './temporal.ts';

export function createDeliveryWorkflows(temporal: Temporal): DeliveryWorkflows {
  const runOf = (deliveryId: string) => ({
    workflow: 'webhookDelivery' as const,
    id: workflowIds.webhookDelivery(deliveryId),
    input: { deliveryId },
  });
  return {
    startWebhookDelivery: (deliveryId) => temporal.startOnce(runOf(deliveryId)),
    hastenWebhookDelivery: (deliveryId) => temporal.signalWithStart(runOf(deliveryId), 'redeliveryAsked'),
  };
}
