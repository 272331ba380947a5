import { createHmac } from 'node:crypto';

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
