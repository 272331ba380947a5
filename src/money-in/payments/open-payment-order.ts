import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../../people/identity/read-payer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { addMoney } from '../../shared/money.ts';
import { claimOfUser } from '../../shared/opening.ts';
import { isPaidUnknown } from './find-receipts.ts';
import { handledPayment, handlerOfOrder } from './handled-payment.ts';
import type { HandlingPorts } from './handler.ts';
import type { OpenedOrder, PaymentOpening } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { deadlineOf, isFinalOrder, paymentOrderLifetimeHours } from './payment-order.ts';

/**
 * The first step of a payment: its row `PENDING` with the handler's pending row and the idempotency key, in one
 * transaction; its lifetime begins at `at` (ISO 8601), the workflow's clock. Wakes what looks after its target. An
 * existing order is returned as it stands. Throws what the target refuses by now, FORBIDDEN for a payer who is no longer active, DUPLICATE from the
 * handler's pending row, IDEMPOTENCY_KEY_REUSED for a key of another request, and as `openOnce`; then no attempt at
 * this opening leaves anything behind.
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
          { resourceId: orderId, kind: 'payment_order', claim: claimOfUser(opening), stamp: opening.stamp },
          { find, make: (tx) => makeOrder(tx, ports, { orderId, opening, openedAt: new Date(at) }) },
        );
  if (opened === null) refuse('NOT_FOUND', `no payment order ${orderId}`);
  await failpoint('open-payment-order.after');
  if (opening !== null)
    void handlerOfOrder(ports, opened).wake?.(ports.workflows, { referenceId: opened.reference_id });
  const awaits = { reference: orderId, amount: addMoney(opened.nominal, opened.admin_fee) };
  return {
    status: opened.status,
    deadline: deadlineOf(opened).toISOString(),
    final: isFinalOrder(opened.status),
    ...(opening !== null && (await isPaidUnknown(em, awaits)) && { isPaid: true as const }),
  };
}

async function makeOrder(
  tx: EntityManager,
  ports: HandlingPorts,
  { orderId, opening, openedAt }: { orderId: string; opening: PaymentOpening; openedAt: Date },
): Promise<PaymentOrder> {
  // The request may have waited: a target stopped meanwhile takes no order.
  const { payableUntil = null } = await ports.paymentKinds[opening.referenceType].findTarget(tx, {
    referenceId: opening.referenceId,
    amount: opening.nominal,
    rail: 'gateway',
    caller: await readPayer(tx, opening.userId),
    onBehalfOf: opening.onBehalfOf ?? null,
    lock: true,
  });
  const livesUntil = openedAt.getTime() + paymentOrderLifetimeHours * 3_600_000;
  const order = tx.create(PaymentOrder, {
    id: orderId,
    user_id: opening.userId,
    organization_id: opening.organizationId,
    reference_type: opening.referenceType,
    reference_id: opening.referenceId,
    on_behalf_of: opening.onBehalfOf ?? null,
    target_account_id: opening.targetAccountId,
    payment_id: opening.paymentId,
    nominal: opening.nominal,
    admin_fee: opening.adminFee,
    status: 'PENDING',
    texts_sealed: opening.textsSealed,
    expires_at: new Date(Math.min(livesUntil, payableUntil?.getTime() ?? livesUntil)),
    request_id: opening.requestId,
    created_at: openedAt,
    updated_at: openedAt,
  });
  await tx.flush();
  const [handler, payment] = [handlerOfOrder(ports, order), handledPayment(order)];
  await handler.holdPending?.(tx, payment);
  await handler.onPending?.(tx, payment);
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: 'payment_order',
    resourceId: orderId,
    actorId: opening.userId,
    requestId: opening.requestId,
  });
  return order;
}
