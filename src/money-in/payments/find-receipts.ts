import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { addMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import type { PaymentOrder } from './payment-order.entity.ts';
import type { Receipt } from './receipt.entity.ts';
import type { ReceiptState } from './receipt.ts';

/** A row that waits for money: its id and the amount due (IDR, scale 4). */
export interface Awaiting {
  reference: string;
  amount: Money;
}

export const awaitedBy = ({ id, nominal, admin_fee }: PaymentOrder): Awaiting => ({
  reference: id,
  amount: addMoney(nominal, admin_fee),
});

/**
 * Receipt states by the provider's payment ids. Omits payments without a receipt, and unidentified money in suspense
 * that exactly pays the row in `awaits`: that row was missing when the money arrived, after a restore.
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

/** Whether this provider payment has a receipt, as in `findReceiptStates`, and can no longer be applied. */
export const hasReceipt = async (em: EntityManager, providerPaymentId: string, awaits?: Awaiting): Promise<boolean> =>
  (await findReceiptStates(em, [providerPaymentId], awaits)).size > 0;

/** Whether money in suspense pays this row, which then must not fail or expire. */
export async function isPaidUnknown(em: EntityManager, { reference, amount }: Awaiting): Promise<boolean> {
  const rows = await em.execute(`select from receipts where ${isUnknownMoney}`, [reference, amount]);
  return rows.length > 0;
}

type ListedReceipt = Pick<Receipt, 'id' | 'amount' | 'reference' | 'reason' | 'received_at'> & { status: ReceiptState };

/**
 * A page of receipts (payments confirmed by the provider), ordered by time of receipt; with `reference` those of one
 * order or payment that were not applied to it.
 */
export const listReceipts = (
  em: EntityManager,
  { status, reference, ...window }: ListWindow & { status?: ReceiptState | undefined; reference?: string | undefined },
): Promise<Listed & { rows: ListedReceipt[] }> =>
  listPage(
    em,
    {
      columns: 'row.id, row.amount, row.reference, row.reason, row.state as status, row.received_at',
      table: 'receipts row',
      instant: 'received_at',
      where: [
        ...(status === undefined ? [] : [{ sql: 'row.state = ?', params: [status] }]),
        ...(reference === undefined
          ? []
          : [{ sql: "row.reference = ? and row.state <> 'applied'", params: [reference] }]),
      ],
    },
    window,
  );
