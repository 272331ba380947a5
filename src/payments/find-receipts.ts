import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../database/find-page.ts';
import { listPage } from '../database/list-page.ts';
import type { Listed } from '../database/position.ts';
import { textArray } from '../shared/postgres.ts';
import type { Receipt } from './receipt.entity.ts';
import type { ReceiptState } from './receipt.ts';

/** Receipt states by the provider's payment ids; a payment without a receipt is not in the map. */
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

/** Whether this provider payment has a receipt, and so can no longer be applied to anything. */
export const hasReceipt = async (em: EntityManager, providerPaymentId: string): Promise<boolean> =>
  (await findReceiptStates(em, [providerPaymentId])).size > 0;

export type ListedReceipt = Pick<Receipt, 'id' | 'amount' | 'reference' | 'reason' | 'state' | 'received_at'>;

/** A page of receipts (payments that the provider confirmed), ordered by when we learnt of them. */
export async function listReceipts(
  em: EntityManager,
  { state, ...window }: ListWindow & { state?: ReceiptState | undefined },
): Promise<Listed & { rows: ListedReceipt[] }> {
  return listPage<ListedReceipt>(
    em,
    {
      columns: 'row.id, row.amount, row.reference, row.reason, row.state, row.received_at',
      table: 'receipts row',
      instant: 'received_at',
      where: state === undefined ? [] : [{ sql: 'row.state = ?', params: [state] }],
    },
    window,
  );
}
