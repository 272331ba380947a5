import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * In the transaction that makes a payment final: what callbacks have told of it, and nobody has booked, is handed over
 * again. While it was open they only woke its workflow, and the provider may not have listed their money yet when that
 * asked for the last time; now each gets a case of its own, which goes on asking. A callback that is being delivered
 * meanwhile is counted as one more attempt, so that it stays undelivered.
 */
export async function tellAgain(tx: EntityManager, reference: string): Promise<void> {
  await tx.execute(
    `update gateway_callbacks c set delivered_at = null, attempts = attempts + 1
     where c.reference = ? and c.kind = 'payment' and c.provider_payment_id is not null and c.unread is null
       and not exists (select from receipts r where r.provider_payment_id = c.provider_payment_id)`,
    [reference],
  );
}
