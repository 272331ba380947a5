import { z } from 'zod';
import { timestamp, uuid } from '../../platform/http/fields.ts';
import { paymentOrderStatusIds, referenceTypes } from './payment-order.ts';

/** The fields of the gateway answer, as every read of an order shows them. */
export const OrderShape = z
  .object({
    payment_order_id: uuid(),
    transaction_id: z.string().nullable().meta({ description: "The provider's own id of the payment." }),
    payment_id: z.int(),
    payment_name: z.string(),
    nominal: z.number(),
    admin_fee: z.number(),
    transaction_total: z.number().meta({ description: 'What the payer pays: nominal plus admin_fee.' }),
    payment_code: z.string().nullable().meta({ description: 'Virtual account number.' }),
    payment_links: z.string().nullable().meta({ description: 'Checkout of an e-wallet.' }),
    qr_code: z.string().nullable().meta({ description: 'QRIS payload.' }),
    expired_date: z.string().meta({ description: 'UTC+7.', examples: ['2026-01-31 15:00:00'] }),
    status_id: z.int().min(1).max(5),
    status: z.enum(Object.keys(paymentOrderStatusIds) as (keyof typeof paymentOrderStatusIds)[]),
    reference_type: z.enum(referenceTypes),
    reference_id: uuid(),
    transaction_name: z.string(),
    transaction_desc: z.string(),
    created_at: timestamp(),
  })
  .meta({ id: 'PaymentOrder' });
