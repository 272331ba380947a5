import type { EntityManager } from '@mikro-orm/postgresql';
import { storeCancellation } from '../money-in/payments/cancel-instrument.ts';
import type { GatewayPaymentWorkflows } from '../money-in/payments/payment-contract.ts';
import { forEachOf } from '../shared/concurrency.ts';
import { failpoint } from '../shared/failpoint.ts';

type Ports = { workflows: Pick<GatewayPaymentWorkflows, 'hintGatewayPayment'> };

/** Maximum orders cancelled at a time; the sweep cancels the rest. */
const endedAtOnce = 100;

/**
 * Open orders `o` whose contributions `c` were superseded by another payment, a new member or the end of their circle.
 * They are cancelled after the transaction that locks the circle, which must not lock orders.
 */
export const ordersInTheWay = `from payment_orders o join saving_circle_contributions c on c.payment_order_id = o.id
  where o.reference_type = 'saving_circle_contribution' and o.status in ('PENDING', 'WAITING_PAYMENT')
    and c.status = 'cancelled'`;

/** Cancels an order as its payer would: its workflow expires the instrument and refunds money that still arrives. */
export async function endOrder(em: EntityManager, { workflows }: Ports, orderId: string): Promise<void> {
  const event = { resourceType: 'payment_order', actorId: null, requestId: null, data: { cancelled: true } };
  await storeCancellation(em, { table: 'payment_orders', id: orderId, event });
  await failpoint('end-order.cancelled');
  await workflows.hintGatewayPayment(orderId);
}

/** Cancels a circle's open orders whose contributions were superseded. */
export async function endOrders(em: EntityManager, ports: Ports, circleId: string): Promise<void> {
  const orders = await em.execute<{ id: string }[]>(`select o.id ${ordersInTheWay} and o.reference_id = ? limit ?`, [
    circleId,
    endedAtOnce,
  ]);
  await forEachOf(orders, ({ id }) => endOrder(em.fork(), ports, id));
}

/**
 * Cancels a member's pending contributions to a turn, except those of `paidBy`; `endOrders` then cancels their orders,
 * and money that still arrives is refunded.
 */
export const cancelPendingContribution = async (
  tx: EntityManager,
  contribution: { circleId: string; turn: number; memberId: string; paidBy?: string },
): Promise<void> => {
  const { circleId, turn, memberId, paidBy = null } = contribution;
  await tx.execute(
    `update saving_circle_contributions set status = 'cancelled', updated_at = clock_timestamp()
     where saving_circle_id = ? and turn_number = ? and status = 'pending' and member_id = ?
       and user_id is distinct from ?::uuid`,
    [circleId, turn, memberId, paidBy],
  );
};
