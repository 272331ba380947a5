import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { endpointTest } from '../partner.ts';
import { presentEndpoint } from '../present-endpoint.ts';
import { lockEndpoint, requireEnabled } from './find-endpoints.ts';
import type { EndpointChange } from './record-endpoint.ts';
import { recordDelivery } from './record-webhook.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import type { DeliveryWorkflows } from './webhook-delivery.ts';

/**
 * Sends `endpoint.test` to an endpoint like any webhook: signed, stored and retried. Its data is the endpoint as the
 * API shows it. Throws NOT_FOUND for another partner's endpoint, REQUEST_INVALID for a disabled one.
 */
export async function testEndpoint(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<DeliveryWorkflows, 'hastenWebhookDeliveries'> },
  input: EndpointChange & { endpointId: string },
): Promise<WebhookDelivery> {
  const { caller, requestId, partnerId } = input;
  const delivery = await em.transactional(async (tx) => {
    const endpoint = await lockEndpoint(tx, input);
    requireEnabled(endpoint, 'id');
    endpoint.tests += 1;
    await tx.flush();
    const test = {
      partnerId,
      resourceType: 'endpoint',
      resourceId: endpoint.id,
      version: endpoint.tests,
      type: endpointTest,
      at: await readDatabaseClock(tx),
      data: presentEndpoint(endpoint),
    } as const;
    const id = await recordDelivery(tx, sealer, test, endpoint.id);
    await recordEvent(tx, {
      event: 'RESOURCE_CREATED',
      resourceType: 'webhook_delivery',
      resourceId: id,
      actorId: caller?.userId ?? null,
      requestId,
      data: { partner_id: partnerId, endpoint_id: endpoint.id, test: true },
    });
    return tx.findOneOrFail(WebhookDelivery, { id });
  });
  workflows.hastenWebhookDeliveries([delivery.id]);
  return delivery;
}
