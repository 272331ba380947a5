import type { EntityManager } from '@mikro-orm/postgresql';
import { PartnerPayment } from '../collections/partner-payment.entity.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Gateway, ProviderPayment } from '../gateway/gateway.ts';
import { systemAccounts } from '../ledger/account.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { must } from '../shared/assert.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, compareMoney, negateMoney, subtractMoney, wholeRupiah } from '../shared/money.ts';
import { isUuid } from '../shared/uuid.ts';
import type { ReceiptOpening, StrayPayment } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { costOfPayment } from './provider-cost.ts';
import { Receipt } from './receipt.entity.ts';
import type { ReceiptReason } from './receipt.ts';

/**
 * Confirms with the provider money that no order takes, and posts it to suspense with its receipt, once. Money that
 * has a receipt is told as it stands; what the provider does not confirm changes nothing. Throws ProviderUnknown.
 */
export async function openReceipt(
  em: EntityManager,
  gateway: Gateway,
  { stray, signal }: { stray: StrayPayment; signal: AbortSignal },
): Promise<ReceiptOpening> {
  const known = await em.findOne(Receipt, { provider_payment_id: stray.providerPaymentId });
  if (known !== null) return tell(known);
  const payment = await gateway.findPayment(stray.providerPaymentMethodId, stray.providerPaymentId, { signal });
  if (payment?.status !== 'succeeded') return { outcome: 'unconfirmed' };
  return em.transactional(async (tx) => {
    const reason = await reasonFor(tx, payment);
    const cost = await costOfPayment(tx, payment);
    const posted = await postJournal(tx, {
      kind: 'receipt.suspended',
      businessKey: journalKeys.receiptSuspended(stray.receiptId),
      postings: [
        { accountId: systemAccounts.gatewayClearing, amount: subtractMoney(cost, payment.amount) },
        { accountId: systemAccounts.providerCost, amount: negateMoney(cost) },
        { accountId: systemAccounts.suspense, amount: payment.amount },
      ],
    });
    // A twin was first: its journal and its receipt were committed together.
    if (posted === null) {
      return tell(must(await tx.findOne(Receipt, { id: stray.receiptId }), 'a suspense journal has its receipt'));
    }
    const receipt = tx.create(Receipt, {
      id: stray.receiptId,
      provider_payment_id: payment.providerPaymentId,
      provider_payment_method_id: payment.providerPaymentMethodId,
      reference: payment.reference,
      amount: payment.amount,
      state: 'suspended',
      reason,
      received_at: new Date(),
    });
    await recordEvent(tx, {
      event: 'RESOURCE_CREATED',
      resourceType: 'receipt',
      resourceId: receipt.id,
      actorId: null,
      requestId: null,
      data: { reason, amount: payment.amount, reference: payment.reference, journal_id: posted },
    });
    await tx.flush();
    return tell(receipt);
  });
}

function tell({ state, amount, reason }: Receipt): ReceiptOpening {
  return state === 'suspended'
    ? { outcome: 'suspended', amountIdr: wholeRupiah(amount), reason: reason ?? 'unknown' }
    : { outcome: state };
}

async function reasonFor(em: EntityManager, { reference, amount }: ProviderPayment): Promise<ReceiptReason> {
  const order = isUuid(reference) ? await em.findOne(PaymentOrder, { id: reference }) : null;
  const payment = isUuid(reference) && order === null ? await em.findOne(PartnerPayment, { id: reference }) : null;
  if (order === null && payment === null) return 'unknown';
  const total = payment?.amount ?? (order === null ? '0' : addMoney(order.nominal, order.admin_fee));
  if (compareMoney(amount, total) !== 0) return 'wrong_amount';
  return (payment ?? order)?.status === 'PAID' ? 'double' : 'late';
}
