import type { EntityManager } from '@mikro-orm/postgresql';
import type { WebhookEvent } from '../../partners/partner.ts';
import { recordWebhook } from '../../partners/webhooks/record-webhook.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import type { Money } from '../../shared/money.ts';
import { PaymentChannel } from '../payments/payment-channel.entity.ts';
import type { ReceiptReason } from '../payments/receipt.ts';
import { readRefunded } from './find-partner-payments.ts';
import type { PartnerPayment } from './partner-payment.entity.ts';
import { presentPartnerPayment } from './present-partner-payment.ts';

/**
 * Records the webhook of an event that changes no status, in the caller's transaction, which has locked the payment.
 * Increases the version only if there is a delivery. Returns the delivery ids.
 */
export async function tellPayment(
  tx: EntityManager,
  sealer: Sealer,
  payment: PartnerPayment,
  event: PaymentEvent,
): Promise<string[]> {
  const version = payment.version + 1;
  const ids = await recordPaymentWebhook(tx, sealer, payment, { ...event, version });
  if (ids.length > 0) payment.version = version;
  await tx.flush();
  return ids;
}

interface PaymentEvent {
  type: WebhookEvent;
  at: Date;
  /** Fields that the webhook has besides the payment's current state. */
  data?: object;
}

/** Freezes the webhooks about a payment under this version; returns the delivery ids. */
export async function recordPaymentWebhook(
  tx: EntityManager,
  sealer: Sealer,
  payment: PartnerPayment,
  { version, type, at, data = {} }: PaymentEvent & { version: number },
): Promise<string[]> {
  const channel = await tx.findOneOrFail(PaymentChannel, { id: payment.channel_id });
  const refunded = must((await readRefunded(tx, [payment.id])).get(payment.id), 'every payment has a refunded sum');
  return recordWebhook(tx, sealer, {
    partnerId: payment.partner_id,
    resourceType: 'payment',
    resourceId: payment.id,
    version,
    type,
    at,
    data: { ...(await presentPartnerPayment(sealer, { payment, channel, refunded })), ...data },
  });
}

/** Money paid to a payment that could not be applied to it: IDR, scale 4, as confirmed by the provider. */
export interface UnmatchedMoney {
  amount: Money;
  reason: ReceiptReason;
}

/** Records the webhook for money that does not pay its payment because it is late, a duplicate or a wrong amount. */
export const tellUnmatched = (
  tx: EntityManager,
  sealer: Sealer,
  payment: PartnerPayment,
  { at, ...unmatched }: UnmatchedMoney & { at: Date },
): Promise<string[]> => tellPayment(tx, sealer, payment, { type: 'payment.unmatched', at, data: { unmatched } });
