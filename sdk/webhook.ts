import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Webhooks } from './generated.ts';

export type Webhook = Webhooks[keyof Webhooks];

/** The headers as your server has them; names in lower case. */
export type WebhookHeaders = Record<string, string | readonly string[] | undefined>;

export interface VerifiedWebhook {
  /** The same at every attempt: what you have taken once you need not take again. */
  id: string;
  webhook: Webhook;
}

const toleranceSeconds = 300;

/** A webhook that must not be believed: answer it 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/**
 * Verifies a webhook (Standard Webhooks) and reads it. `body` is what was received, byte for byte, before any parsing;
 * `secrets` are the `whsec_...` that are live, one or two. Throws WebhookError when it is not from the platform or is old.
 */
export function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  now: Date = new Date(),
): VerifiedWebhook {
  const header = (name: string): string => {
    const value = headers[name];
    if (typeof value !== 'string' || value === '') throw new WebhookError(`${name} is missing`);
    return value;
  };
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const signatures = header('webhook-signature').split(' ');
  if (!(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookError('the webhook is too old, or from the future');
  }
  const isSigned = [secrets].flat().some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return signatures.some((signature) => {
      const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
      return signature.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
    });
  });
  if (!isSigned) throw new WebhookError('the signature does not match');
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
  return { id, webhook: JSON.parse(text) };
}
