import { createHmac } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { openKept } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import type { Deferral, EndpointBounds } from './bound-endpoints.ts';
import { openSecrets } from './find-endpoints.ts';
import { recordEndpoint } from './record-endpoint.ts';
import { webhookBodyPlace } from './record-webhook.ts';
import { type SentWebhook, unanswered, type WebhookSender } from './send-webhook.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import { failingLimitMs, type WebhookDeliveryStatus, waitAfterAttempt, webhookIdOf } from './webhook-delivery.ts';

export interface DeliveryAttempt {
  deliveryId: string;
  /** Number of the attempt in this run of the delivery, from 1. */
  attempt: number;
  /** Time since the first attempt of this run, by the workflow's clock. */
  elapsedMs: number;
  /** How many redeliveries had been requested when the previous attempt began; absent for a run's first attempt. */
  redeliveries?: number;
}

export interface DeliveryProgress {
  status: WebhookDeliveryStatus;
  /** Milliseconds until the next attempt; 0 if there is none. */
  waitMs: number;
  /** The receiver's response, for people. */
  answer: string;
  /** Nothing was sent because the endpoint or its partner is at its limit. Does not count as an attempt. */
  deferred?: true;
  /** Nothing was sent because the endpoint is deleted or disabled. */
  unsent?: true;
  /**
   * How many redeliveries had been requested when this attempt began; if more than before, it is the first of a new
   * run.
   */
  redeliveries?: number;
}

type Recorded = Partial<Pick<WebhookDelivery, 'attempts' | 'last_status' | 'last_error'>>;
type Ending = Pick<WebhookDelivery, 'next_attempt_at'> & Partial<Pick<WebhookDelivery, 'status'>>;

export interface DeliveryTools {
  sealer: Sealer;
  send: WebhookSender;
  bounds: EndpointBounds;
}

/**
 * Tries once to deliver a webhook: sends its frozen body, signed now with every live secret, and records the result.
 * Anything but a 2xx, including a lost key of the body, is retried with growing waits for three days; then the delivery
 * is parked (docs/contract.md 8). Parks it at once if the endpoint is deleted or disabled or the body's key was
 * destroyed. Defers the attempt while the endpoint or its partner is at its limit. A redelivery restarts the three
 * days; if requested during an attempt, it follows that attempt, whatever its result.
 */
export async function deliverWebhook(
  em: EntityManager,
  { sealer, send, bounds }: DeliveryTools,
  { deliveryId, redeliveries: seen, ...run }: DeliveryAttempt,
): Promise<DeliveryProgress> {
  const delivery = await em.findOneOrFail(WebhookDelivery, { id: deliveryId });
  if (delivery.status !== 'pending') return { status: delivery.status, waitMs: 0, answer: delivery.status };
  const endpoint = await em.findOne(WebhookEndpoint, { id: delivery.endpoint_id });
  if (endpoint === null) return parkUnsent(em, delivery, 'its endpoint was deleted');
  if (endpoint.status !== 'enabled') return parkUnsent(em, delivery, 'its endpoint is disabled');
  const sealed = must(delivery.body_sealed, 'a pending delivery has a body');
  const body = await openKept(sealer, webhookBodyPlace(delivery.id), sealed);
  if ('gone' in body && body.gone === 'destroyed') return parkUnsent(em, delivery, 'its body is no longer kept');
  const place = { endpointId: endpoint.id, partnerId: delivery.partner_id };
  const sent =
    'text' in body
      ? await bounds.run(place, () => attemptOnce(em, { sealer, send }, { id: delivery.id, body: body.text }, endpoint))
      : unanswered('the key of its body is lost');
  if ('waitMs' in sent) return defer(em, delivery, sent);
  await failpoint('deliver-webhook.after');
  const { redeliveries } = delivery;
  const { attempt, elapsedMs } = (seen ?? redeliveries) === redeliveries ? run : { attempt: 1, elapsedMs: 0 };
  const told = { answer: sent.error ?? `status ${sent.status}`, redeliveries };
  const again = { status: 'pending', waitMs: 0, ...told } as const;
  const tried = { attempts: delivery.attempts + 1, last_status: sent.status, last_error: sent.error };
  if (sent.status !== null && sent.status >= 200 && sent.status < 300) {
    return (await succeed(em, delivery, sent.status)) ? { status: 'delivered', waitMs: 0, ...told } : again;
  }
  const now = await readDatabaseClock(em);
  if ('text' in body) await noteFailure(em, endpoint, now);
  const waitMs = waitAfterAttempt(attempt, elapsedMs, sent.retryAfterMs);
  if (waitMs === null) {
    return (await park(em, delivery, tried)) ? { status: 'parked', waitMs: 0, ...told } : again;
  }
  const waits = await conclude(em, delivery, tried, { next_attempt_at: new Date(now.getTime() + waitMs) });
  return waits ? { status: 'pending', waitMs, ...told } : again;
}

/**
 * Records an attempt and its result. False if a redelivery was requested since the attempt began, or another attempt
 * has completed the delivery: then only the attempt is recorded, and the next attempt decides.
 */
async function conclude(
  em: EntityManager,
  { id, redeliveries }: WebhookDelivery,
  tried: Recorded,
  ending: Ending,
): Promise<boolean> {
  const ended = await em.nativeUpdate(
    WebhookDelivery,
    { id, status: 'pending', redeliveries },
    { ...tried, ...ending },
  );
  if (ended === 0) await em.nativeUpdate(WebhookDelivery, { id, status: 'pending' }, tried);
  return ended > 0;
}

/**
 * Records a successful attempt; returns false as `conclude` does. Also marks the endpoint as no longer failing,
 * whatever its state when the attempt began: another delivery may have failed since.
 */
async function succeed(
  em: EntityManager,
  { id, endpoint_id, attempts, redeliveries }: WebhookDelivery,
  status: number,
): Promise<boolean> {
  const [row] = await em.execute<{ ended: boolean }[]>(
    `with endpoint as (update webhook_endpoints set failing_since = null where id = ? and failing_since is not null)
     update webhook_deliveries set attempts = ?, last_status = ?, last_error = null,
       (status, next_attempt_at, delivered_at) = (
         select case when is_last then 'delivered' else status end,
           case when is_last then null else next_attempt_at end, case when is_last then clock_timestamp() end
         from (select redeliveries = ? as is_last) judged)
     where id = ? and status = 'pending' returning delivered_at is not null as ended`,
    [endpoint_id, attempts + 1, status, redeliveries, id],
  );
  return row?.ended ?? false;
}

async function defer(
  em: EntityManager,
  { id, redeliveries }: WebhookDelivery,
  { waitMs }: Deferral,
): Promise<DeliveryProgress> {
  const next_attempt_at = new Date((await readDatabaseClock(em)).getTime() + waitMs);
  await em.nativeUpdate(WebhookDelivery, { id, status: 'pending', redeliveries }, { next_attempt_at });
  const answer = 'its endpoint is at its limit of simultaneous requests';
  return { status: 'pending', waitMs, answer, deferred: true, redeliveries };
}

/** Parks an undeliverable webhook, instead of retrying it for three days. */
async function parkUnsent(em: EntityManager, delivery: WebhookDelivery, answer: string): Promise<DeliveryProgress> {
  const { redeliveries } = delivery;
  const parked = await conclude(em, delivery, { last_error: answer }, { status: 'parked', next_attempt_at: null });
  if (!parked) return { status: 'pending', waitMs: 0, answer, redeliveries };
  return { status: 'parked', waitMs: 0, answer, unsent: true, redeliveries };
}

async function attemptOnce(
  em: EntityManager,
  { sealer, send }: Pick<DeliveryTools, 'sealer' | 'send'>,
  { id: deliveryId, body }: { id: string; body: string },
  endpoint: WebhookEndpoint,
): Promise<SentWebhook> {
  const secrets = await openSecrets(em, sealer, endpoint);
  const id = webhookIdOf(deliveryId);
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

/** Parks the delivery and records the event; returns false as `conclude` does. */
function park(
  em: EntityManager,
  delivery: WebhookDelivery,
  tried: Recorded & { attempts: number; last_status: number | null },
): Promise<boolean> {
  const { id, partner_id, endpoint_id, type, resource_id } = delivery;
  return em.transactional(async (tx) => {
    if (!(await conclude(tx, delivery, tried, { status: 'parked', next_attempt_at: null }))) return false;
    await recordAction(tx, byPlatform, 'WEBHOOK_PARKED', ['webhook_delivery', id], {
      partner_id,
      endpoint_id,
      type,
      resource_id,
      attempts: tried.attempts,
      last_status: tried.last_status,
    });
    return true;
  });
}

/**
 * Records that a request to the endpoint failed at `now`, by the database's clock. After `failingLimitMs` without a
 * success disables the endpoint (reason `failing`), with an event; it receives nothing until it is enabled again.
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

const secretPrefix = 'whsec_';

/**
 * The header `webhook-signature` of Standard Webhooks: one `v1,<base64>` for each live secret (`whsec_...`), over
 * `id.timestamp.body`.
 */
export function signWebhook(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret, 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
