import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { addMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import type { PaymentOrder } from './payment-order.entity.ts';
import type { Receipt } from './receipt.entity.ts';
import type { ReceiptState } from './receipt.ts';

/** A row that waits for money: its id, and the amount that pays it (IDR, scale 4). */
export interface Awaiting {
  reference: string;
  amount: Money;
}

/** What pays an order: its total. */
export const awaitedBy = ({ id, nominal, admin_fee }: PaymentOrder): Awaiting => ({
  reference: id,
  amount: addMoney(nominal, admin_fee),
});

/**
 * Receipt states by the provider's payment ids; a payment without a receipt is not in the map. Nor is one in suspense
 * that nobody knew and that pays exactly the row that `awaits` it: a restore had taken the row back.
 */
export async function findReceiptStates(
  em: EntityManager,
  providerPaymentIds: readonly string[],
  awaits?: Awaiting,
): Promise<Map<string, ReceiptState>> {
  if (providerPaymentIds.length === 0) return new Map();
  const rows = await em.execute<{ id: string; state: ReceiptState }[]>(
    `select provider_payment_id as id, state from receipts
     where provider_payment_id = any(?::text[]) and not (${isUnknownMoney})`,
    [textArray(providerPaymentIds), awaits?.reference ?? '', awaits?.amount ?? '0'],
  );
  return new Map(rows.map(({ id, state }) => [id, state]));
}

const isUnknownMoney = "state = 'suspended' and reason = 'unknown' and reference = ? and amount = ?::numeric";

/** Whether this provider payment has a receipt, as `findReceiptStates`, and so can no longer be applied to anything. */
export const hasReceipt = async (em: EntityManager, providerPaymentId: string, awaits?: Awaiting): Promise<boolean> =>
  (await findReceiptStates(em, [providerPaymentId], awaits)).size > 0;

/** Whether money in suspense pays this row, which then neither fails nor expires. */
export async function isPaidUnknown(em: EntityManager, { reference, amount }: Awaiting): Promise<boolean> {
  const rows = await em.execute(`select from receipts where ${isUnknownMoney}`, [reference, amount]);
  return rows.length > 0;
}

type ListedReceipt = Pick<Receipt, 'id' | 'amount' | 'reference' | 'reason' | 'received_at'> & { status: ReceiptState };

/** A page of receipts (payments that the provider confirmed), ordered by when we learnt of them. */
export const listReceipts = (
  em: EntityManager,
  { status, ...window }: ListWindow & { status?: ReceiptState | undefined },
): Promise<Listed & { rows: ListedReceipt[] }> =>
  listPage(
    em,
    {
      columns: 'row.id, row.amount, row.reference, row.reason, row.state as status, row.received_at',
      table: 'receipts row',
      instant: 'received_at',
      where: status === undefined ? [] : [{ sql: 'row.state = ?', params: [status] }],
    },
    window,
  );
