import type { EntityManager } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { PaymentChannel } from './payment-channel.entity.ts';
import { PaymentOrder } from './payment-order.entity.ts';

export interface OrderWithChannel {
  order: PaymentOrder;
  channel: PaymentChannel;
}

async function withChannels(em: EntityManager, orders: PaymentOrder[]): Promise<OrderWithChannel[]> {
  if (orders.length === 0) return [];
  const channels = await em.find(PaymentChannel, { id: { $in: orders.map(({ payment_id }) => payment_id) } });
  return orders.flatMap((order) => {
    const channel = channels.find(({ id }) => id === order.payment_id);
    return channel === undefined ? [] : [{ order, channel }];
  });
}

export async function findOrder(em: EntityManager, orderId: string): Promise<OrderWithChannel | null> {
  const order = await em.findOne(PaymentOrder, { id: orderId }, { refresh: true });
  if (order === null) return null;
  const [found] = await withChannels(em, [order]);
  return found ?? null;
}

/**
 * An order that the caller may poll: its own, or any for platform. Throws NOT_FOUND or FORBIDDEN (docs/contract.md 0).
 */
export async function getOrder(em: EntityManager, caller: Caller, orderId: string): Promise<OrderWithChannel> {
  const found = await findOrder(em, orderId);
  if (found === null) refuse('NOT_FOUND', 'the order was not found', { field: 'payment_order_id' });
  if (!isPlatform(caller) && found.order.user_id !== caller.userId) {
    refuse('FORBIDDEN', 'the order is not yours', { field: 'payment_order_id' });
  }
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
    return { items: await withChannels(reader, items), ...listed };
  });
}
