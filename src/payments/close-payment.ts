import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { tellAgain } from '../callbacks/tell-again.ts';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import { handledPayment, handlerOfOrder } from './handled-payment.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/** Ends an order unpaid, with the handler's effect, in one transaction. A final order stays as it is. */
export function closePayment(
  em: EntityManager,
  close: { orderId: string; status: 'FAILED' | 'EXPIRED'; failureCode: string | null },
): Promise<PaymentOrderStatus> {
  return em.transactional(async (tx) => {
    const order = await tx.findOneOrFail(
      PaymentOrder,
      { id: close.orderId },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    if (isFinalOrder(order.status)) return order.status;
    order.status = close.status;
    order.failure_code = close.failureCode;
    order.finalized_at = order.updated_at = await readDatabaseClock(tx);
    await tellAgain(tx, order.id);
    await handlerOfOrder(order).onClosed?.(tx, handledPayment(order), close.status);
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'payment_order',
      resourceId: order.id,
      actorId: null,
      requestId: order.request_id ?? null,
      data: { status: close.status, failure_code: close.failureCode },
    });
    return close.status;
  });
}
