import type { EntityManager } from '@mikro-orm/postgresql';
import { receiptIdFor } from '../shared/ids.ts';
import type { ConfirmedPayment } from './payment-contract.ts';

/** What was paid, for an order or for a partner's payment. */
interface Application {
  payment: ConfirmedPayment;
  orderId?: string;
  partnerPaymentId?: string;
}

/**
 * Writes the receipt of what an open order, or a partner's open payment, was paid, inside the transaction that settles
 * it and before it is final: the receipt is what proves the settlement's journal.
 */
export async function applyReceipt(
  tx: EntityManager,
  { payment, orderId, partnerPaymentId }: Application,
): Promise<void> {
  await tx.execute('select apply_receipt(?, ?, ?, ?, ?)', [
    receiptIdFor(payment.providerPaymentId),
    payment.providerPaymentId,
    payment.providerPaymentMethodId,
    orderId ?? null,
    partnerPaymentId ?? null,
  ]);
}
