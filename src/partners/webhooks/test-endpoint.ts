import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { endpointTest, type WebhookType } from '../partner.ts';
import { presentEndpoint } from '../present-endpoint.ts';
import { storyWebhooks } from '../story-webhooks.ts';
import { lockEndpoint, requireEnabled } from './find-endpoints.ts';
import type { EndpointChange } from './record-endpoint.ts';
import { recordDelivery } from './record-webhook.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import type { DeliveryWorkflows } from './webhook-delivery.ts';

/**
 * Sends an example webhook to an endpoint, whatever its subscriptions: signed, stored and retried like any other, but
 * marked as a test. The data is the reference's example; for `endpoint.test`, the endpoint as the API shows it. Throws
 * NOT_FOUND for another partner's endpoint, REQUEST_INVALID for a disabled one.
 */
export async function testEndpoint(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<DeliveryWorkflows, 'hastenWebhookDeliveries'> },
  input: EndpointChange & { endpointId: string; type: WebhookType },
): Promise<WebhookDelivery> {
  const { caller, requestId, partnerId, type } = input;
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
      type,
      at: await readDatabaseClock(tx),
      data: type === endpointTest ? presentEndpoint(endpoint) : storyWebhooks[type].data,
      isTest: true,
    } as const;
    const id = await recordDelivery(tx, sealer, test, endpoint.id);
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['webhook_delivery', id], {
      partner_id: partnerId,
      endpoint_id: endpoint.id,
      test: true,
    });
    return tx.findOneOrFail(WebhookDelivery, { id });
  });
  workflows.hastenWebhookDeliveries([delivery.id]);
  return delivery;
}
