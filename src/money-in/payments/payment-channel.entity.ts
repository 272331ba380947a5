import { defineEntity, p } from '@mikro-orm/core';
import type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';

const PaymentChannelSchema = defineEntity({
  name: 'PaymentChannel',
  tableName: 'payment_channels',
  properties: {
    id: p.integer().primary(),
    /** The channel's provider; orders keep the provider with which they were opened. */
    provider: p.text().default('xendit'),
    name: p.string().length(100),
    method: p.text().$type<PaymentMethodKind>(),
    channel_code: p.text(),
    fee_fixed: p.decimal().precision(20).scale(4),
    fee_basis_points: p.integer().default(0),
    /** The provider's fee for a user's payment; a partner's payment has its own `provider_fee`. */
    provider_fee_fixed: p.decimal().precision(20).scale(4).default('0'),
    provider_fee_basis_points: p.integer().default(0),
    minimum_amount: p.decimal().precision(20).scale(4),
    maximum_amount: p.decimal().precision(20).scale(4),
    needs_phone: p.boolean().default(false),
    /** Whether the provider can refund to the paying wallet, whether partly, and for how many days. */
    refundable: p.boolean().default(false),
    refundable_in_part: p.boolean().default(false),
    refund_window_days: p.smallint().default(0),
    active: p.boolean().default(true),
  },
});

/** A way to pay through the provider; limits and fees are rows, never constants. */
export class PaymentChannel extends PaymentChannelSchema.class {}
PaymentChannelSchema.setClass(PaymentChannel);
