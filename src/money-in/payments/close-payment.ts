import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { tellAgain } from '../../platform/callbacks/tell-again.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { addMoney } from '../../shared/money.ts';
import { isPaidUnknown } from './find-receipts.ts';
import { type HandlingPorts, handledPayment, handlerOfOrder } from './handler.ts';
import { type Attempt, expectLastAttempt } from './obtain-instrument.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/**
 * Ends an order unpaid, with the handler's effect, in one transaction, and wakes what waits for it. A final order stays
 * as it is, and one whose money is in suspense, unknown when it came. Closed because an attempt to get an instrument was `refused`, it throws as `expectLastAttempt`.
 */
export async function closePayment(
  em: EntityManager,
  close: { orderId: string; status: 'FAILED' | 'EXPIRED'; failureCode: string | null; refused?: Attempt },
  ports: HandlingPorts,
): Promise<PaymentOrderStatus> {
  let wake = async () => {};
  const status = await em.transactional(async (tx) => {
    const order = await tx.findOneOrFail(
      PaymentOrder,
      { id: close.orderId },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    const handler = handlerOfOrder(ports, order);
    wake = () => wakeAfterEnd(order, ports);
    if (isFinalOrder(order.status)) return order.status;
    const awaits = { reference: order.id, amount: addMoney(order.nominal, order.admin_fee) };
    if (await isPaidUnknown(tx, awaits)) return order.status;
    if (close.refused) await expectLastAttempt(tx, 'payment_orders', order.id, close.refused);
    order.status = close.status;
    order.failure_code = close.failureCode;
    order.finalized_at = order.updated_at = await readDatabaseClock(tx);
    await tellAgain(tx, order);
    await handler.onClosed?.(tx, handledPayment(order), close.status);
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
  await wake();
  return status;
}

/** Wakes what waits for an order that has ended; on a retry, too, as a second time is harmless. */
export async function wakeAfterEnd(order: PaymentOrder, ports: HandlingPorts): Promise<void> {
  await handlerOfOrder(ports, order).wake?.(ports.workflows, { referenceId: order.reference_id });
}
