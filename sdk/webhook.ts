import type { Webhooks } from './generated.ts';
import { fromBase64, importHmacKey, isHmacOf, utf8 } from './hmac.ts';

export type Webhook = Webhooks[keyof Webhooks];

/** The headers as your server provides them: Node's object, or a `Headers`. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

export interface VerifiedWebhook {
  /** The same in every attempt: skip an id that you have already processed. */
  id: string;
  webhook: Webhook;
}

const toleranceSeconds = 300;
const secretPrefix = 'whsec_';
const shortestSecretBytes = 24;
const signaturePrefix = 'v1,';

/** Thrown for a webhook that must not be trusted: answer it with 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/**
 * Verifies a webhook (Standard Webhooks) and parses it. `body` is what was received, byte for byte, before any parsing;
 * `secrets` are the valid `whsec_...`, one or more. Throws WebhookError if the webhook is not from the platform or its
 * timestamp is more than 5 minutes off; TypeError if the body is already parsed or a secret is invalid, because an empty
 * secret would accept forged webhooks.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  now: Date = new Date(),
): Promise<VerifiedWebhook> {
  const keys = [secrets].flat().map(readSecret);
  if (typeof body !== 'string' && !ArrayBuffer.isView(body)) {
    throw new TypeError('the body of a webhook must be the text or the bytes as received, before any parsing');
  }
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature').split(' ');
  if (!(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookError('the webhook is too old, or from the future');
  }
  const signed = concat(utf8(`${id}.${timestamp}.`), typeof body === 'string' ? utf8(body) : body);
  if (!(await isSignedByAny(keys, signatures, signed))) throw new WebhookError('the signature does not match');
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
  return { id, webhook: JSON.parse(text) };
}

function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret?.startsWith(secretPrefix) ? fromBase64(secret.slice(secretPrefix.length)) : null;
  if (key === null || key.length < shortestSecretBytes) {
    throw new TypeError(`a webhook secret is ${secretPrefix} and base64, as the platform showed it`);
  }
  return key;
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookError(`${name} is missing`);
  return value;
}

async function isSignedByAny(
  secrets: Uint8Array<ArrayBuffer>[],
  signatures: string[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const given = signatures
    .filter((signature) => signature.startsWith(signaturePrefix))
    .map((signature) => fromBase64(signature.slice(signaturePrefix.length)))
    .filter((signature) => signature !== null);
  for (const secret of secrets) {
    const key = await importHmacKey(secret);
    for (const signature of given) if (await isHmacOf(key, signature, signed)) return true;
  }
  return false;
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
