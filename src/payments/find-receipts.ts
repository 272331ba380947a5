import type { EntityManager } from '@mikro-orm/postgresql';
import { textArray } from '../shared/postgres.ts';
import type { ReceiptState } from './receipt.ts';

/** The states of the receipts that these payments have, by the provider's ids; one without a receipt is not among them. */
export async function findReceiptStates(
  em: EntityManager,
  providerPaymentIds: readonly string[],
): Promise<Map<string, ReceiptState>> {
  if (providerPaymentIds.length === 0) return new Map();
  const rows = await em.execute<{ id: string; state: ReceiptState }[]>(
    'select provider_payment_id as id, state from receipts where provider_payment_id = any(?::text[])',
    [textArray(providerPaymentIds)],
  );
  return new Map(rows.map(({ id, state }) => [id, state]));
}

/** Whether this payment of the provider has a receipt of ours, and so is nobody's to take any more. */
export const hasReceipt = async (em: EntityManager, providerPaymentId: string): Promise<boolean> =>
  (await findReceiptStates(em, [providerPaymentId])).size > 0;
