import type { EntityManager } from '@mikro-orm/postgresql';
import { callbacksSince } from './callbacks-since.ts';

/**
 * Marks a payment's callbacks without a receipt as undelivered, in the transaction that makes the payment final. While
 * it was open, they only signalled its workflow, and the provider may not have listed their money when the workflow
 * last asked; now each starts its own receipt workflow, which keeps asking. Incrementing the attempts prevents a
 * delivery in progress from marking its callback delivered.
 */
export async function tellAgain(
  tx: EntityManager,
  { id, created_at }: { id: string; created_at: Date },
): Promise<void> {
  await tx.execute(
    `update gateway_callbacks c set delivered_at = null, attempts = attempts + 1
     where c.reference = ? and c.id >= first_id_at(?::timestamptz) and c.kind = 'payment'
       and c.provider_payment_id is not null and c.unread is null
       and not exists (select from receipts r where r.provider_payment_id = c.provider_payment_id)`,
    [id, callbacksSince(created_at)],
  );
}
