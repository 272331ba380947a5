import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { cancelInstrument } from './cancel-instrument.ts';
import { findOrder, type OrderWithChannel } from './find-orders.ts';
import type { GatewayPaymentWorkflows } from './payment-contract.ts';
import { isFinalOrder } from './payment-order.ts';

/**
 * Cancels an order for its payer, as `cancelInstrument` does, and returns it once it has ended. Throws NOT_FOUND,
 * FORBIDDEN for anybody but its payer, REQUEST_INVALID when it is paid, and SERVICE_UNAVAILABLE when the provider has
 * not ended it yet: it will still end, cancelled or paid.
 */
export async function cancelOrder(
  em: EntityManager,
  workflows: Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'>,
  { caller, orderId, requestId }: { caller: Caller; orderId: string; requestId: string },
): Promise<OrderWithChannel> {
  const field = 'payment_order_id';
  const { order } = (await findOrder(em, orderId)) ?? refuse('NOT_FOUND', 'the order was not found', { field });
  if (order.user_id !== caller.userId) refuse('FORBIDDEN', 'the order is not yours', { field });
  const find = async () => must(await findOrder(em, orderId), 'an order is never deleted');
  const status = await cancelInstrument(em, {
    table: 'payment_orders',
    id: orderId,
    event: { resourceType: 'payment_order', actorId: caller.userId, requestId, data: { cancelled: true } },
    statusNow: async () => (await find()).order.status,
    wake: () => workflows.hintGatewayPayment(orderId),
  });
  if (status === 'PAID') refuse('REQUEST_INVALID', 'the order is paid', { field });
  if (!isFinalOrder(status)) {
    refuse('SERVICE_UNAVAILABLE', 'The provider has not ended the payment yet: poll the order, or try again', {
      retryAfterSeconds: 5,
    });
  }
  return find();
}
