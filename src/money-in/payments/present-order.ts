import { z } from 'zod';
import { amount, moneyNumber, optionalText, prose, timestamp, uuid } from '../../platform/http/fields.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { formatWesternIndonesia } from '../../shared/clock.ts';
import { addMoney, presentMoneyAsNumber } from '../../shared/money.ts';
import type { OrderWithChannel } from './find-orders.ts';
import { paymentOrderLaw, referenceTypes, statusIdOf } from './payment-order.ts';

export const GatewayPayment = z.strictObject({
  reference_type: z.enum(referenceTypes),
  reference_id: uuid(),
  payment_id: z.int(),
  amount: moneyNumber(),
  transaction_name: optionalText(100),
  transaction_desc: prose(255, 0).optional(),
});

export const BalancePayment = z.strictObject({
  reference_type: z.enum(referenceTypes),
  reference_id: uuid(),
  source_account_id: uuid(),
  amount: moneyNumber(),
});

/** A gateway payment, with the amount as written in the request. */
export type GatewayPaymentRequest = z.output<typeof GatewayPayment> & {
  /** The member of a shared target who is paid for, if not the caller. */
  on_behalf_of?: string | undefined;
};
export type BalancePaymentRequest = z.output<typeof BalancePayment>;

/** The response to a request that created a payment. */
export const madeShape = <Data extends z.ZodType>(data: Data) =>
  z.object({ status: z.literal('success'), statusCode: z.literal(201), message: z.string(), data });

/** The response to a balance payment or a transfer. */
export const PaidShape = madeShape(
  z.object({
    transaction_id: uuid(),
    amount: amount(),
    new_balance: amount().meta({ description: 'After the debit.' }),
    reference_type: z.string(),
    reference_id: uuid(),
  }),
).meta({ id: 'BalancePayment' });

export const OrderShape = z
  .object({
    payment_order_id: uuid(),
    transaction_id: z.string().nullable().meta({ description: "The provider's own id of the payment." }),
    payment_id: z.int(),
    payment_name: z.string(),
    nominal: z.number(),
    admin_fee: z.number(),
    transaction_total: z.number().meta({ description: 'The total that the payer pays: nominal plus admin_fee.' }),
    payment_code: z.string().nullable().meta({ description: 'Virtual account number.' }),
    payment_links: z.string().nullable().meta({ description: 'Checkout of an e-wallet.' }),
    qr_code: z.string().nullable().meta({ description: 'QRIS payload.' }),
    expired_date: z.string().meta({ description: 'UTC+7.', examples: ['2026-01-31 15:00:00'] }),
    status_id: z.int().min(1).max(5),
    status: z.enum(paymentOrderLaw.statuses),
    reference_type: z.enum(referenceTypes),
    reference_id: uuid(),
    transaction_name: z.string(),
    transaction_desc: z.string(),
    created_at: timestamp(),
  })
  .meta({ id: 'PaymentOrder' });

/** The payer's own texts, stored sealed. */
export type PaymentTexts = Pick<z.infer<typeof OrderShape>, 'transaction_name' | 'transaction_desc'>;

/** The `data` of the gateway response; the channel's method decides which code is set. */
export function presentOrder({ order, channel }: OrderWithChannel, texts: PaymentTexts) {
  const code = order.payment_code ?? null;
  return presentFields(OrderShape.shape, {
    ...order,
    payment_order_id: order.id,
    transaction_id: order.provider_payment_request_id ?? null,
    payment_id: channel.id,
    payment_name: channel.name,
    nominal: presentMoneyAsNumber(order.nominal),
    admin_fee: presentMoneyAsNumber(order.admin_fee),
    transaction_total: presentMoneyAsNumber(addMoney(order.nominal, order.admin_fee)),
    payment_code: channel.method === 'virtual_account' ? code : null,
    payment_links: channel.method === 'ewallet' ? code : null,
    qr_code: channel.method === 'qris' ? code : null,
    expired_date: formatWesternIndonesia(order.expires_at),
    status_id: statusIdOf(order.status),
    ...texts,
  });
}
