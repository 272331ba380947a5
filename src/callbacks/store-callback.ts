import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { CallbackHint } from '../gateway/gateway.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';

/**
 * Stores a callback before it is answered, unique by its id (by the digest of its bytes when it has none); the bytes
 * rest sealed. Returns the row's id, or null when it was here already.
 */
export async function storeCallback(
  em: EntityManager,
  sealer: Sealer,
  { webhookId, body, hint }: { webhookId: string | undefined; body: Buffer; hint: CallbackHint },
): Promise<string | null> {
  const id = newId();
  const sealed = await sealer.seal(
    { table: 'gateway_callbacks', column: 'body_sealed', row: id },
    body.toString('utf8'),
  );
  const rows = await em.execute<unknown[]>(
    `insert into gateway_callbacks (id, webhook_id, event, kind, reference, provider_payment_id,
       provider_payment_request_id, provider_payment_method_id, provider_transfer_id, body_sealed)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (webhook_id) do nothing returning 1`,
    [
      id,
      webhookId ?? `sha256:${createHash('sha256').update(body).digest('hex')}`,
      hint.event,
      hint.kind,
      hint.reference,
      hint.providerPaymentId,
      hint.providerPaymentRequestId,
      hint.providerPaymentMethodId,
      hint.providerTransferId,
      sealed,
    ],
  );
  await failpoint('store-callback.after');
  return rows.length > 0 ? id : null;
}
