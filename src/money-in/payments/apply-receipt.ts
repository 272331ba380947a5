import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { newId, receiptIdFor } from '../../shared/ids.ts';
import type { ConfirmedPayment } from './payment-contract.ts';

/** A confirmed payment, and the order or partner payment it pays. */
interface Application {
  payment: ConfirmedPayment;
  orderId?: string;
  partnerPaymentId?: string;
}

/**
 * Writes the receipt of the payment that settles an open order or partner payment, in the settling transaction and
 * before the row becomes final: the receipt is the proof for the settlement's journal. Money in suspense that was unknown
 * when it came, and is of this row, leaves it (after a restore); whether it did.
 */
export async function applyReceipt(
  tx: EntityManager,
  { payment, orderId, partnerPaymentId }: Application,
): Promise<boolean> {
  const receiptId = receiptIdFor(payment.providerPaymentId);
  const journalId = newId();
  const [{ taken }] = await tx.execute<[{ taken: boolean }]>('select apply_receipt(?, ?, ?, ?, ?, ?) as taken', [
    journalId,
    receiptId,
    payment.providerPaymentId,
    payment.providerPaymentMethodId,
    orderId ?? null,
    partnerPaymentId ?? null,
  ]);
  if (taken) {
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'receipt',
      resourceId: receiptId,
      actorId: null,
      requestId: null,
      data: { state: 'applied', reference: orderId ?? partnerPaymentId ?? null, journal_id: journalId },
    });
  }
  return taken;
}
