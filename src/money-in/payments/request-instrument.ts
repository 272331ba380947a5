import type { EntityManager } from '@mikro-orm/postgresql';
import { openProfile } from '../../people/members/profile.ts';
import { User } from '../../people/members/user.entity.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { addMoney } from '../../shared/money.ts';
import type { HandlingPorts } from './handler.ts';
import { noteAttempt, obtainInstrument } from './obtain-instrument.ts';
import { PaymentChannel } from './payment-channel.entity.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';
import { returnUrlOf } from './return-url.ts';
import { closePayment, wakeAfterEnd } from './settle-payment.ts';

/**
 * Requests the order's instrument and stores it: `WAITING_PAYMENT` with the payer's code, or `FAILED`. If an earlier
 * attempt made the order final, signals the waiting workflows again. Throws KeysAway, and ProviderUnknown as
 * `obtainInstrument` does.
 */
export async function requestInstrument(
  em: EntityManager,
  ports: HandlingPorts & { gateways: Gateways; sealer: Sealer },
  { orderId, publicUrl, signal }: { orderId: string; publicUrl: string; signal: AbortSignal },
): Promise<PaymentOrderStatus> {
  const order = await em.findOneOrFail(PaymentOrder, { id: orderId });
  if (isFinalOrder(order.status)) await wakeAfterEnd(order, ports);
  if (order.status !== 'PENDING' || order.cancelled_at) return order.status;
  const channel = await em.findOneOrFail(PaymentChannel, { id: order.payment_id });
  const { name } = await openProfile(ports.sealer, await em.findOneOrFail(User, order.user_id));
  const request = {
    reference: order.id,
    method: channel.method,
    channelCode: channel.channel_code,
    amount: addMoney(order.nominal, order.admin_fee),
    expiresAt: order.expires_at,
    customer: { name },
    returnUrl: returnUrlOf(publicUrl, order.id),
  };
  const table = 'payment_orders';
  const attempt = await noteAttempt(em, table, order.id);
  const search = { table, attempt, request, signal, after: 'request-instrument.after' } as const;
  const answer = await obtainInstrument(em, ports.gateways.of(order.provider), search);
  if (answer.outcome !== 'accepted') {
    return closePayment(em, { orderId, status: 'FAILED', failureCode: answer.code, refused: attempt }, ports);
  }
  const { providerPaymentRequestId, providerPaymentMethodId, paymentCode } = answer.instrument;
  const asked = [providerPaymentRequestId, providerPaymentMethodId, paymentCode, orderId];
  if ((await em.execute<unknown[]>(waitForPayment, asked)).length > 0) return 'WAITING_PAYMENT';
  return (await em.findOneOrFail(PaymentOrder, { id: orderId }, { refresh: true })).status;
}

// Row and event in one statement, because a request waits for it.
const waitForPayment = `
  with waiting as (
    update payment_orders set status = 'WAITING_PAYMENT', provider_payment_request_id = ?,
      provider_payment_method_id = ?, payment_code = ?, updated_at = now()
    where id = ? and status = 'PENDING' returning id, request_id)
  insert into events (event, impact, resource_type, resource_id, request_id, data)
  select 'RESOURCE_UPDATED', 'MEDIUM', 'payment_order', id::text, request_id, '{"status": "WAITING_PAYMENT"}'::jsonb
  from waiting returning 1`;
