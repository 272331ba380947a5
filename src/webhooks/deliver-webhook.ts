import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import { failpoint } from '../shared/failpoint.ts';
import type { Deferral, EndpointBounds } from './bound-endpoints.ts';
import { openSecrets } from './find-endpoints.ts';
import { noteFailure, noteSuccess } from './judge-endpoint.ts';
import { webhookBodyPlace } from './record-webhook.ts';
import type { SentWebhook, WebhookSender } from './send-webhook.ts';
import { signWebhook } from './sign-webhook.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import { type WebhookDeliveryStatus, waitAfterAttempt, webhookIdOf } from './webhook-delivery.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

export interface DeliveryAttempt {
  deliveryId: string;
  /** Number of the attempt in this run of the delivery, from 1. */
  attempt: number;
  /** Time since the first attempt of this run, by the workflow's clock. */
  elapsedMs: number;
}

export interface DeliveryProgress {
  status: WebhookDeliveryStatus;
  /** Milliseconds to wait before the next attempt; 0 when there is none. */
  waitMs: number;
  /** For people: what the receiver answered. */
  answer: string;
  /** Nothing was sent: the endpoint or its partner is at its limit of requests. It does not count as an attempt. */
  deferred?: true;
  /** Nothing was sent, nor will be: the endpoint is gone or disabled. */
  unsent?: true;
}

export interface DeliveryTools {
  sealer: Sealer;
  send: WebhookSender;
  bounds: EndpointBounds;
}

/**
 * One attempt at one webhook: sends its frozen body, signed now with every live secret, and records the result.
 * Anything but a 2xx is retried after a growing wait for three days, then parked (docs/contract.md 8); a deleted or
 * disabled endpoint parks it at once. While the endpoint or its partner is at its limit, the attempt is deferred.
 */
export async function deliverWebhook(
  em: EntityManager,
  { sealer, send, bounds }: DeliveryTools,
  { deliveryId, attempt, elapsedMs }: DeliveryAttempt,
): Promise<DeliveryProgress> {
  const delivery = await em.findOneOrFail(WebhookDelivery, { id: deliveryId });
  if (delivery.status !== 'pending') return { status: delivery.status, waitMs: 0, answer: delivery.status };
  const endpoint = await em.findOne(WebhookEndpoint, { id: delivery.endpoint_id });
  if (endpoint?.status !== 'enabled') return parkUnsent(em, delivery, endpoint);
  const place = { endpointId: endpoint.id, partnerId: delivery.partner_id };
  const sent = await bounds.run(place, () => attemptOnce(em, { sealer, send }, delivery, endpoint));
  if ('waitMs' in sent) return defer(em, deliveryId, sent);
  await failpoint('deliver-webhook.after');
  const answer = sent.error ?? `status ${sent.status}`;
  const now = await readDatabaseClock(em);
  const tried = { attempts: delivery.attempts + 1, last_status: sent.status, last_error: sent.error };
  if (sent.status !== null && sent.status >= 200 && sent.status < 300) {
    const done = { ...tried, status: 'delivered', next_attempt_at: null, delivered_at: now } as const;
    await em.nativeUpdate(WebhookDelivery, { id: deliveryId, status: 'pending' }, done);
    await noteSuccess(em, endpoint);
    return { status: 'delivered', waitMs: 0, answer };
  }
  await noteFailure(em, endpoint, now);
  const waitMs = waitAfterAttempt(attempt, elapsedMs, sent.retryAfterMs);
  if (waitMs === null) {
    await park(em, delivery, tried);
    return { status: 'parked', waitMs: 0, answer };
  }
  const next_attempt_at = new Date(now.getTime() + waitMs);
  await em.nativeUpdate(WebhookDelivery, { id: deliveryId, status: 'pending' }, { ...tried, next_attempt_at });
  return { status: 'pending', waitMs, answer };
}

async function defer(em: EntityManager, id: string, { waitMs }: Deferral): Promise<DeliveryProgress> {
  const next_attempt_at = new Date((await readDatabaseClock(em)).getTime() + waitMs);
  await em.nativeUpdate(WebhookDelivery, { id, status: 'pending' }, { next_attempt_at });
  return { status: 'pending', waitMs, answer: 'its endpoint has as many requests as it may have', deferred: true };
}

/** Parks a delivery whose endpoint was deleted or disabled, instead of retrying it for three days. */
async function parkUnsent(
  em: EntityManager,
  { id }: WebhookDelivery,
  endpoint: WebhookEndpoint | null,
): Promise<DeliveryProgress> {
  const answer = endpoint === null ? 'its endpoint was deleted' : 'its endpoint is disabled';
  const parked = { status: 'parked', next_attempt_at: null, last_error: answer } as const;
  await em.nativeUpdate(WebhookDelivery, { id, status: 'pending' }, parked);
  return { status: 'parked', waitMs: 0, answer, unsent: true };
}

async function attemptOnce(
  em: EntityManager,
  { sealer, send }: Pick<DeliveryTools, 'sealer' | 'send'>,
  delivery: WebhookDelivery,
  endpoint: WebhookEndpoint,
): Promise<SentWebhook> {
  const secrets = await openSecrets(em, sealer, endpoint);
  const body = await sealer.open(webhookBodyPlace(delivery.id), delivery.body_sealed);
  const id = webhookIdOf(delivery.id);
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Amanah-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signWebhook(secrets, { id, timestamp, body }),
  };
  return send(endpoint.url, headers, body);
}

function park(
  em: EntityManager,
  { id, partner_id, endpoint_id, type, resource_id }: WebhookDelivery,
  tried: { attempts: number; last_status: number | null; last_error: string | null },
): Promise<void> {
  return em.transactional(async (tx) => {
    const parked = { ...tried, status: 'parked', next_attempt_at: null } as const;
    if ((await tx.nativeUpdate(WebhookDelivery, { id, status: 'pending' }, parked)) === 0) return;
    await recordEvent(tx, {
      event: 'WEBHOOK_PARKED',
      resourceType: 'webhook_delivery',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { partner_id, endpoint_id, type, resource_id, attempts: tried.attempts, last_status: tried.last_status },
    });
  });
}
