import type { EntityManager } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { PaymentChannel } from './payment-channel.entity.ts';
import { PaymentOrder } from './payment-order.entity.ts';

export interface OrderWithChannel {
  order: PaymentOrder;
  channel: PaymentChannel;
}

const withChannel = async (em: EntityManager, order: PaymentOrder): Promise<OrderWithChannel> => ({
  order,
  channel: await em.findOneOrFail(PaymentChannel, { id: order.payment_id }),
});

export async function findOrder(em: EntityManager, orderId: string): Promise<OrderWithChannel | null> {
  const order = await em.findOne(PaymentOrder, { id: orderId }, { refresh: true });
  return order && withChannel(em, order);
}

/** An order of the caller, or of anyone with `any`. Throws NOT_FOUND or FORBIDDEN (docs/contract.md 0). */
export async function getOrder(
  em: EntityManager,
  caller: Caller,
  orderId: string,
  { any = false } = {},
): Promise<OrderWithChannel> {
  const field = 'payment_order_id';
  const found = (await findOrder(em, orderId)) ?? refuse('NOT_FOUND', 'the order was not found', { field });
  if (!any && found.order.user_id !== caller.userId) refuse('FORBIDDEN', 'the order is not yours', { field });
  return found;
}

/** A page of the caller's own orders, newest first. */
export function findOrders(
  em: EntityManager,
  caller: Caller,
  window: ListWindow,
): Promise<Listed & { items: OrderWithChannel[] }> {
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, PaymentOrder, { user_id: caller.userId }, window);
    // Load all channels at once, so that each order then finds its channel in memory.
    await reader.find(PaymentChannel, { id: { $in: items.map(({ payment_id }) => payment_id) } });
    return { items: await Promise.all(items.map((order) => withChannel(reader, order))), ...listed };
  });
}
