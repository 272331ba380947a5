import type { HandledPayment, HandlingPorts, PaymentHandler } from './handler.ts';
import type { PaymentOrder } from './payment-order.entity.ts';

/** The handler of an order that exists: its reference type was checked when it was opened. */
export const handlerOfOrder = (
  { paymentKinds }: Pick<HandlingPorts, 'paymentKinds'>,
  order: PaymentOrder,
): PaymentHandler => paymentKinds[order.reference_type];

/** An order as its handler sees it. */
export const handledPayment = (order: PaymentOrder): HandledPayment => ({
  orderId: order.id,
  userId: order.user_id,
  organizationId: order.organization_id ?? null,
  referenceId: order.reference_id,
  accountId: order.target_account_id,
  sourceAccountId: null,
  amount: order.nominal,
  onBehalfOf: order.on_behalf_of ?? null,
  requestId: order.request_id ?? null,
});
