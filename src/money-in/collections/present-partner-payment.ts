import { z } from 'zod';
import { collectionMethods } from '../../partners/partner.ts';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { shownMetadata } from '../../platform/http/metadata.ts';
import type { Money } from '../../shared/money.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import type { PartnerPayment } from './partner-payment.entity.ts';
import { isFinalPayment, partnerMetadataPlace, partnerPaymentStatuses, shownStatuses } from './partner-payment.ts';

export interface PaymentChannelName {
  method: PaymentMethodKind;
  channel_code: string;
}

export interface PaymentWithChannel {
  payment: PartnerPayment;
  channel: PaymentChannelName;
  /** How much is refunded or being refunded: IDR, scale 4. */
  refunded: Money;
}

/** A payment as shown to partners (docs/contract.md 8), the same in details, lists and webhooks. */
export async function presentPartnerPayment(sealer: Sealer, { payment, channel, refunded }: PaymentWithChannel) {
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
    payment_code: isPushed(channel) ? null : (payment.payment_code ?? null),
    next_action: nextActionOf(payment, channel),
    metadata: await showMetadata(sealer, payment),
    instrument_id: payment.instrument_id ?? null,
    expires_at: payment.instrument_id ? null : payment.expires_at.toISOString(),
    created_at: payment.created_at.toISOString(),
    finalized_at: payment.finalized_at?.toISOString() ?? null,
    cancelled_at: payment.cancelled_at?.toISOString() ?? null,
    available_at: payment.available_at?.toISOString() ?? null,
    failure_code: payment.status === 'FAILED' ? (payment.failure_code ?? 'PAYMENT_FAILED') : null,
  };
}

/** The metadata as sent; null if there is none or its key is destroyed. */
async function showMetadata(sealer: Sealer, { id, metadata_sealed: sealed }: PartnerPayment): Promise<Metadata | null> {
  const opened = sealed ? await openUnlessGone(sealer, partnerMetadataPlace(id), sealed) : null;
  return opened === null ? null : JSON.parse(opened);
}

/** Whether the wallet notifies the payer itself: there is nothing to show, and the code is the provider's id. */
const isPushed = ({ channel_code }: PaymentChannelName): boolean => channel_code === 'OVO';

/** Payment instructions for the customer; null until the instrument exists and once the payment is final. */
function nextActionOf(
  { status, payment_code: code = null }: PartnerPayment,
  channel: PaymentChannelName,
): z.input<typeof NextActionShape> | null {
  if (isFinalPayment(status) || code === null) return null;
  const { method } = channel;
  if (method === 'virtual_account') return { type: 'show_account_number', value: code };
  if (method === 'qris') return { type: 'show_qr', value: code };
  return isPushed(channel) ? { type: 'wait_for_push', value: null } : { type: 'redirect', value: code };
}

const NextActionShape = z.object({
  type: z.enum(['show_account_number', 'show_qr', 'redirect', 'wait_for_push']).meta({
    description: 'Show the number, draw the QR code, send the customer to the page, or tell them to look at their app.',
  }),
  value: z.string().nullable().meta({
    description: 'The number, the QR payload or the URL of the page; null if the wallet notifies the customer itself.',
  }),
});

export const PartnerPaymentShape = z
  .object({
    id: uuid(),
    reference: z.string().meta({ description: "The partner's external_ref when sent, otherwise the payment's id." }),
    external_ref: z
      .string()
      .nullable()
      .meta({ description: "The partner's own reference, as sent; null if there is none." }),
    status: z.enum(partnerPaymentStatuses),
    is_final: z.boolean(),
    method: z.enum(collectionMethods),
    channel: z.string().optional(),
    amount: amount(),
    fee: amount(),
    net_amount: amount(),
    refunded_amount: amount(),
    currency: z.literal('IDR'),
    payment_code: z
      .string()
      .nullable()
      .meta({
        description:
          'Virtual account number, QR payload or checkout URL; null until the provider has created it, and for ' +
          'OVO, which notifies the customer itself.',
      }),
    next_action: NextActionShape.nullable().meta({
      description:
        'Payment instructions for the customer; null until the provider has created them, and once the payment is final.',
    }),
    metadata: shownMetadata(),
    status_url: z.string().optional().meta({ description: 'The path to poll; only in the create response.' }),
    instrument_id: uuid().nullable().meta({
      description: 'The reusable instrument that was paid; otherwise null.',
    }),
    expires_at: timestamp().nullable(),
    created_at: timestamp(),
    finalized_at: timestamp().nullable(),
    cancelled_at: timestamp().nullable().meta({
      description: 'When you or the operator requested cancellation; null if the payment was paid anyway.',
    }),
    available_at: timestamp().nullable().meta({
      description: 'When the net amount becomes, or became, available for payouts; null until the payment is paid.',
    }),
    failure_code: z.string().nullable(),
  })
  .meta({ id: 'PartnerPayment' });

/** A payment as shown to operators. */
export async function presentOperatorsPayment(sealer: Sealer, shown: PaymentWithChannel) {
  const { payment } = shown;
  return {
    ...(await presentPartnerPayment(sealer, shown)),
    kind: 'partner_payment' as const,
    channel: shown.channel.channel_code,
    partner_id: payment.partner_id,
    organization_id: payment.organization_id ?? null,
    provider_payment_request_id: payment.provider_payment_request_id ?? null,
    settling_since: payment.settling_since?.toISOString() ?? null,
  };
}

export const OperatorsPaymentShape = PartnerPaymentShape.omit({ status_url: true })
  .extend({
    kind: z.literal('partner_payment').meta({ description: 'The only value that the filter `kind` accepts.' }),
    partner_id: uuid(),
    partner_name: z
      .string()
      .nullable()
      .meta({ description: 'The name of the partner.', examples: ['Kios Nusantara'] }),
    organization_id: uuid().nullable().meta({
      description: 'The linked organization for which the money was collected; null if the request named none.',
    }),
    provider_payment_request_id: z.string().nullable().meta({ description: "The provider's id of the instrument." }),
    settling_since: timestamp().nullable().meta({
      description: 'Since when the provider has reported it as paid or pending without a payment that can be settled.',
    }),
  })
  .meta({ id: 'OperatorsPayment' });
