import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../../people/identity/read-payer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { awaitedBy, isPaidUnknown } from './find-receipts.ts';
import { type HandlingPorts, handledPayment, handlerOfOrder } from './handler.ts';
import type { OpenedOrder, PaymentOpening } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { deadlineOf, isFinalOrder, paymentOrderLifetimeHours } from './payment-order.ts';

/**
 * The first step of a payment: creates its row `PENDING`, with the handler's pending row and the idempotency key, in
 * one transaction, and signals the target's workflow; its lifetime begins at `at` (ISO 8601), the workflow's clock.
 * Returns an existing order unchanged. Throws the target's refusal, FORBIDDEN for an inactive payer, DUPLICATE from the
 * handler's pending row, IDEMPOTENCY_KEY_REUSED, and as `openOnce` does. After a refusal no attempt at this opening has
 * any effect.
 */
export async function openPaymentOrder(
  em: EntityManager,
  { orderId, opening, at }: { orderId: string; opening: PaymentOpening | null; at: string },
  ports: HandlingPorts,
): Promise<OpenedOrder> {
  const find = (tx: EntityManager) => tx.findOne(PaymentOrder, { id: orderId });
  const opened =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          { resourceId: orderId, kind: 'payment_order', claim: opening.claim, stamp: opening.stamp },
          { find, make: (tx) => makeOrder(tx, ports, { orderId, opening, openedAt: new Date(at) }) },
        );
  if (opened === null) refuse('NOT_FOUND', 'The payment order was not found');
  await failpoint('open-payment-order.after');
  if (opening !== null)
    void handlerOfOrder(ports, opened).wake?.(ports.workflows, { referenceId: opened.reference_id });
  return {
    status: opened.status,
    deadline: deadlineOf(opened).toISOString(),
    final: isFinalOrder(opened.status),
    ...(opening !== null && (await isPaidUnknown(em, awaitedBy(opened))) && { isPaid: true as const }),
  };
}

async function makeOrder(
  tx: EntityManager,
  ports: HandlingPorts,
  { orderId, opening, openedAt }: { orderId: string; opening: PaymentOpening; openedAt: Date },
): Promise<PaymentOrder> {
  const { order: asked } = opening;
  // Check again: while the request waited, the target may have been stopped.
  const { payableUntil = null } = await ports.paymentKinds[asked.reference_type].findTarget(tx, {
    referenceId: asked.reference_id,
    amount: asked.nominal,
    rail: 'gateway',
    caller: await readPayer(tx, asked.user_id),
    onBehalfOf: asked.on_behalf_of ?? null,
    lock: true,
  });
  const livesUntil = openedAt.getTime() + paymentOrderLifetimeHours * 3_600_000;
  const order = tx.create(PaymentOrder, {
    ...asked,
    id: orderId,
    status: 'PENDING',
    expires_at: new Date(Math.min(livesUntil, payableUntil?.getTime() ?? livesUntil)),
    created_at: openedAt,
    updated_at: openedAt,
  });
  await tx.flush();
  await handlerOfOrder(ports, order).onPending?.(tx, handledPayment(order));
  const by = { actorId: order.user_id, requestId: order.request_id ?? null };
  await recordAction(tx, by, 'RESOURCE_CREATED', ['payment_order', orderId]);
  return order;
}
