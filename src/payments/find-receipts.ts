import type { EntityManager } from '@mikro-orm/postgresql';
import { textArray } from '../shared/postgres.ts';

/** Which of these payments, by the provider's ids, have a receipt of ours: applied, in suspense or settled from it. */
export async function findReceipted(em: EntityManager, providerPaymentIds: readonly string[]): Promise<Set<string>> {
  if (providerPaymentIds.length === 0) return new Set();
  const rows = await em.execute<{ id: string }[]>(
    'select provider_payment_id as id from receipts where provider_payment_id = any(?::text[])',
    [textArray(providerPaymentIds)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Whether this payment of the provider has a receipt of ours, and so is nobody's to take any more. */
export const hasReceipt = async (em: EntityManager, providerPaymentId: string): Promise<boolean> =>
  (await findReceipted(em, [providerPaymentId])).size > 0;
