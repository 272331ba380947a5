import { z } from 'zod';
import { amount, timestamp, uuid } from '../http/fields.ts';
import { collectionMethods } from '../partners/partner.ts';
import type { PaymentMethodKind } from '../payments/payment-channel.ts';
import type { Money } from '../shared/money.ts';
import type { PartnerPayment } from './partner-payment.entity.ts';
import { isFinalPayment, partnerPaymentStatuses, shownStatuses } from './partner-payment.ts';

export interface PaymentChannelName {
  method: PaymentMethodKind;
  channel_code: string;
}

export interface PaymentWithChannel {
  payment: PartnerPayment;
  channel: PaymentChannelName;
  /** What of it is refunded, or on its way back: IDR, scale 4. */
  refunded: Money;
}

/** A payment as partners see it (docs/contract.md 8): the same in the detail, the list and the webhooks. */
export function presentPartnerPayment({ payment, channel, refunded }: PaymentWithChannel) {
  return {
    id: payment.id,
    reference: payment.external_ref ?? payment.id,
    external_ref: payment.external_ref ?? null,
    status: shownStatuses[payment.status],
    is_final: isFinalPayment(payment.status),
    method: channel.method,
    ...(channel.method === 'qris' ? {} : { channel: channel.channel_code }),
    amount: payment.amount,
    fee: payment.fee,
    net_amount: payment.net_amount,
    refunded_amount: refunded,
    currency: 'IDR' as const,
    payment_code: payment.payment_code ?? null,
    expires_at: payment.expires_at.toISOString(),
    created_at: payment.created_at.toISOString(),
    finalized_at: payment.finalized_at?.toISOString() ?? null,
    available_at: payment.available_at?.toISOString() ?? null,
    ...(payment.status === 'FAILED' ? { failure_code: payment.failure_code ?? 'PAYMENT_FAILED' } : {}),
  };
}

export const PartnerPaymentShape = z
  .object({
    id: uuid(),
    reference: z.string().meta({ description: "The partner's external_ref when sent, otherwise the payment's id." }),
    external_ref: z.string().nullable().meta({ description: "The partner's own reference as sent; null without one." }),
    status: z.enum(partnerPaymentStatuses),
    is_final: z.boolean(),
    method: z.enum(collectionMethods),
    channel: z.string().optional(),
    amount: amount(),
    fee: amount(),
    net_amount: amount(),
    refunded_amount: amount(),
    currency: z.literal('IDR'),
    payment_code: z.string().nullable().meta({
      description: 'Virtual account number, QR payload or checkout URL; null while the provider has not made one.',
    }),
    status_url: z.string().optional().meta({ description: 'In the answer to creation.' }),
    expires_at: timestamp(),
    created_at: timestamp(),
    finalized_at: timestamp().nullable(),
    available_at: timestamp().nullable().meta({
      description: 'When the net of a paid payment becomes, or became, available for payouts; null before it is paid.',
    }),
    failure_code: z.string().optional(),
  })
  .meta({ id: 'PartnerPayment' });
