import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { DeliveryWorkflows } from '../../partners/webhooks/webhook-delivery.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Gateways, ProviderPayment } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { newId, receiptIdFor } from '../../shared/ids.ts';
import { compareMoney, wholeRupiah } from '../../shared/money.ts';
import type { CallbackWorkflows, Collection, FindOwner } from '../callbacks/callback-workflows.ts';
import { PartnerPayment } from '../collections/partner-payment.entity.ts';
import { tellUnmatched } from '../collections/tell-payment.ts';
import { PartnerInstrument } from '../partner-instruments/partner-instrument.entity.ts';
import { tellUnmatchedOfInstrument } from '../partner-instruments/tell-unmatched.ts';
import type { ReceiptOpening, StrayPayment } from '../payments/payment-contract.ts';
import { isFinalOrder } from '../payments/payment-order.ts';
import { Receipt } from '../payments/receipt.entity.ts';
import type { ReceiptReason } from '../payments/receipt.ts';
import { costOfPayment } from '../payments/settle-payment.ts';

interface ReceiptPorts {
  gateways: Gateways;
  findOwner: FindOwner;
  sealer: Sealer;
  workflows: CallbackWorkflows & Pick<DeliveryWorkflows, 'hastenWebhookDeliveries'>;
}

/**
 * Asks the provider about unmatched money and posts it to suspense, with its receipt, once. The provider's record
 * identifies the payment and its owner: if it pays an open row of ours, only the workflow of that row is signalled. The
 * partner whose payment or instrument received the money gets a webhook. Returns the state of money that already has a
 * receipt, and posts only what the provider confirms. Throws ProviderUnknown.
 */
export async function openReceipt(
  em: EntityManager,
  { gateways, findOwner, sealer, workflows }: ReceiptPorts,
  { stray, signal }: { stray: StrayPayment; signal: AbortSignal },
): Promise<ReceiptOpening> {
  const known = await em.findOne(Receipt, { provider_payment_id: stray.providerPaymentId });
  if (known !== null) return tell(known);
  const { provider, providerPaymentMethodId, providerPaymentId } = stray;
  const payment = await gateways.of(provider).findPayment(providerPaymentMethodId, providerPaymentId, { signal });
  if (payment?.status === 'failed' || payment?.status === 'voided') return { outcome: 'failed' };
  if (payment?.status !== 'succeeded') return { outcome: 'unconfirmed' };
  const owner = await findOwner(em, { provider, reference: payment.reference, paidAt: payment.paidAt });
  // A final row stays final and an amount never changes, so the reason still holds when the receipt is posted.
  const reason = await reasonFor(owner?.collection ?? null, payment);
  if (reason === null) {
    await owner?.hint(workflows);
    return { outcome: 'owned' };
  }
  const reference = owner?.id ?? payment.reference;
  const journalId = newId();
  const told: string[] = [];
  const opening = await em.transactional(async (tx) => {
    // Lock order: the payment or instrument before the accounts, as in settlement.
    const collected = owner && (await tx.findOne(PartnerPayment, { id: owner.id }, locked));
    const instrument = owner && (await tx.findOne(PartnerInstrument, { id: owner.id }, locked));
    const cost = await costOfPayment(tx, payment);
    const [{ suspended }] = await tx.execute<[{ suspended: boolean }]>(
      'select suspend_receipt(?, ?, ?, ?, ?, ?, ?, ?, ?) as suspended',
      [
        journalId,
        receiptIdFor(payment.providerPaymentId),
        payment.providerPaymentId,
        payment.providerPaymentMethodId,
        reference,
        payment.amount,
        cost,
        reason,
        provider,
      ],
    );
    const receipt = must(
      await tx.findOne(Receipt, { provider_payment_id: payment.providerPaymentId }),
      'the money has a receipt',
    );
    // Otherwise a concurrent run posted it first.
    if (suspended) {
      await recordEvent(tx, {
        event: 'RESOURCE_CREATED',
        resourceType: 'receipt',
        resourceId: receipt.id,
        actorId: null,
        requestId: null,
        data: { reason, amount: payment.amount, reference: payment.reference, journal_id: journalId },
      });
      const unmatched = { amount: payment.amount, reason, at: await readDatabaseClock(tx) };
      if (collected !== null) told.push(...(await tellUnmatched(tx, sealer, collected, unmatched)));
      if (instrument !== null) told.push(...(await tellUnmatchedOfInstrument(tx, sealer, instrument, unmatched)));
    }
    return tell(receipt);
  });
  workflows.hastenWebhookDeliveries(told);
  return opening;
}

/** Locks a row until the transaction ends. */
const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;

function tell({ state, amount, reason }: Receipt): ReceiptOpening {
  return state === 'suspended'
    ? { outcome: 'suspended', amountIdr: wholeRupiah(amount), reason: reason ?? 'unknown' }
    : { outcome: state };
}

/** Why this money cannot be applied to its payment or instrument; null if it can be. */
async function reasonFor(
  collection: Collection | null,
  { amount, providerPaymentMethodId }: ProviderPayment,
): Promise<ReceiptReason | null> {
  if (collection === null) return 'unknown';
  const { takes, providerPaymentMethodId: known } = collection;
  // Money belongs to a reusable instrument only if it was paid by the instrument's own payment method.
  if (takes && known !== null && known !== providerPaymentMethodId) return 'unknown';
  if (collection.total !== null && compareMoney(amount, collection.total) !== 0) return 'wrong_amount';
  if (!isFinalOrder(collection.status)) {
    return takes === undefined || (await takes(amount)) ? null : 'wrong_amount';
  }
  return collection.status === 'PAID' ? 'double' : 'late';
}
