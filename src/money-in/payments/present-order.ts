import { formatWesternIndonesia } from '../../shared/clock.ts';
import { addMoney, presentMoneyAsNumber } from '../../shared/money.ts';
import type { OrderWithChannel } from './find-orders.ts';
import { paymentOrderStatusIds } from './payment-order.ts';
import type { PaymentTexts } from './prepare-gateway-payment.ts';

/** The `data` of the gateway answer (docs/contract.md 3); the channel's method decides which code is set. */
export function presentOrder(
  { order, channel }: OrderWithChannel,
  { transaction_name, transaction_desc }: PaymentTexts,
) {
  const code = order.payment_code ?? null;
  return {
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
    status_id: paymentOrderStatusIds[order.status],
    status: order.status,
    reference_type: order.reference_type,
    reference_id: order.reference_id,
    transaction_name,
    transaction_desc,
    created_at: order.created_at.toISOString(),
  };
}
