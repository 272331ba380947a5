import type { EntityManager } from '@mikro-orm/postgresql';
import { receiptIdFor } from '../shared/ids.ts';
import type { ConfirmedPayment } from './payment-contract.ts';

/** A confirmed payment, and the order or partner payment it pays. */
interface Application {
  payment: ConfirmedPayment;
  orderId?: string;
  partnerPaymentId?: string;
}

/**
 * Writes the receipt of the payment that settles an open order or partner payment, in the settling transaction and
 * before the row becomes final: the receipt is the proof for the settlement's journal.
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
