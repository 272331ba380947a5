import type { EntityManager } from '@mikro-orm/postgresql';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { refuse } from '../../shared/errors.ts';
import { webhookBodyPlace } from './record-webhook.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';

/**
 * A partner's webhook delivery with its exact body; the body is undefined once it is deleted or its key is gone. Throws
 * NOT_FOUND for another partner's delivery.
 */
export async function readDelivery(
  em: EntityManager,
  sealer: Sealer,
  { partnerId, deliveryId }: { partnerId: string; deliveryId: string },
): Promise<{ delivery: WebhookDelivery; body: string | undefined }> {
  const delivery =
    (await em.findOne(WebhookDelivery, { id: deliveryId, partner_id: partnerId })) ??
    refuse('NOT_FOUND', 'the webhook delivery was not found', { field: 'id' });
  const { body_sealed: sealed } = delivery;
  const body = sealed ? await openUnlessGone(sealer, webhookBodyPlace(delivery.id), sealed) : null;
  return { delivery, body: body ?? undefined };
}
