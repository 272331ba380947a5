import type { EntityManager } from '@mikro-orm/postgresql';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import { recordEndpoint } from './record-endpoint.ts';
import { failingLimitMs } from './webhook-delivery.ts';

/**
 * A request to the endpoint failed at `now`, by the database's clock. After `failingLimitMs` without a success the
 * endpoint is disabled (reason `failing`), with an event; it collects nothing until it is enabled again.
 */
export async function noteFailure(em: EntityManager, endpoint: WebhookEndpoint, now: Date): Promise<void> {
  const { id, failing_since: since } = endpoint;
  if (!since) {
    await em.nativeUpdate(WebhookEndpoint, { id, status: 'enabled', failing_since: null }, { failing_since: now });
    return;
  }
  const limit = new Date(now.getTime() - failingLimitMs);
  if (since > limit) return;
  await em.transactional(async (tx) => {
    const where = { id, status: 'enabled', failing_since: { $lte: limit } } as const;
    const disabled = { status: 'disabled', disabled_reason: 'failing', disabled_at: now, updated_at: now } as const;
    if ((await tx.nativeUpdate(WebhookEndpoint, where, disabled)) === 0) return;
    const by = { caller: null, requestId: null };
    await recordEndpoint(tx, by, 'WEBHOOK_ENDPOINT_DISABLED', endpoint, { failing_since: since.toISOString() });
  });
}
