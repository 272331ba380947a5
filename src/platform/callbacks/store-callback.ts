import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { CallbackReading } from '../../platform/gateway/gateway.ts';
import { sha256 } from '../../shared/digest.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { canonicalId, isUuid } from '../../shared/uuid.ts';
import type { CallbackBody } from './read-callback-body.ts';

/** A longer id is stored as its digest, to fit the index. */
const longestWebhookId = 255;

export interface ReceivedCallback {
  provider: string;
  /** The webhook id header as received; undefined if absent. */
  webhookId: string | undefined;
  body: CallbackBody;
  reading: CallbackReading;
}

export interface StoredCallback {
  id: string;
  /** Whether a different body arrived earlier under the same id. */
  hasOtherBody: boolean;
}

/**
 * Stores a callback before it is answered, once per id and body (without an id, the body's digest is the id). A
 * different body under the same id is another callback. Seals the bytes. Returns null if the callback is already
 * stored.
 */
export async function storeCallback(
  em: EntityManager,
  sealer: Sealer,
  { provider, webhookId, body, reading }: ReceivedCallback,
): Promise<StoredCallback | null> {
  // Use the database's clock, which determines the partition.
  const [{ id }] = await em.execute<[{ id: string }]>('select uuidv7() as id');
  const { hint } = reading;
  // Normalized, so that callbacks are found by the payment's or payout's id.
  const reference = hint && isUuid(hint.reference) ? canonicalId(hint.reference) : (hint?.reference ?? null);
  const knownAs = shorten(webhookId) ?? `sha256:${body.digest}`;
  const encoding = isExactText(body.bytes) ? 'utf8' : 'base64';
  const place = { table: 'gateway_callbacks', column: 'body_sealed', row: id };
  const sealed = await sealer.seal(place, body.bytes.toString(encoding));
  const [stored] = await em.execute<{ has_other_body: boolean }[]>(
    `with key as (insert into callback_keys (webhook_id, body_digest, callback_id) values (?, ?, ?)
       on conflict (webhook_id, body_digest) do nothing returning webhook_id, body_digest, callback_id)
     insert into gateway_callbacks (id, webhook_id, provider, event, kind, reference, provider_payment_id,
       provider_payment_request_id, provider_payment_method_id, provider_transfer_id, unread, body_digest, body_bytes,
       body_encoding, body_sealed)
     select callback_id, webhook_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, body_digest, ?, ?, ? from key
     returning exists (select from callback_keys other where other.webhook_id = gateway_callbacks.webhook_id)
       as has_other_body`,
    [
      knownAs,
      body.digest,
      id,
      provider,
      hint?.event ?? null,
      hint?.kind ?? null,
      reference,
      hint?.providerPaymentId ?? null,
      hint?.providerPaymentRequestId ?? null,
      hint?.providerPaymentMethodId ?? null,
      hint?.providerTransferId ?? null,
      reading.hint === null ? reading.unread : null,
      body.size,
      encoding,
      sealed,
    ],
  );
  await failpoint('store-callback.after');
  return stored === undefined ? null : { id, hasOtherBody: stored.has_other_body };
}

const shorten = (webhookId: string | undefined): string | undefined =>
  webhookId !== undefined && webhookId.length > longestWebhookId ? `sha256:${sha256(webhookId)}` : webhookId;

/** Whether the bytes survive decoding and encoding unchanged: UTF-8 without a byte order mark. */
const isExactText = (bytes: Buffer): boolean => Buffer.from(new TextDecoder().decode(bytes)).equals(bytes);
