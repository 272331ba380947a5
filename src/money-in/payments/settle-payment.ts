import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { postJournal, recordTransactions, type TransactionRow } from '../../ledger/post-journal.ts';
import { tellAgain } from '../../platform/callbacks/tell-again.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import { assert, must } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys, newId, receiptIdFor } from '../../shared/ids.ts';
import { compareMoney, type Money, negateMoney, subtractMoney } from '../../shared/money.ts';
import { isUuid } from '../../shared/uuid.ts';
import { strayOf } from './confirm-payment.ts';
import { awaitedBy, hasReceipt, isPaidUnknown } from './find-receipts.ts';
import { type HandlingPorts, handledPayment, handlerOfOrder } from './handler.ts';
import { type Attempt, expectNoAttempt } from './obtain-instrument.ts';
import type { ConfirmedPayment, ReceiptWorkflows } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';

/**
 * Settles a paid order once: journal (clearing and provider cost -> target and fee revenue), transaction rows, the
 * handler's effect, receipt and event in one transaction. `payment.amount` (IDR, scale 4) must be nominal plus fee. A
 * final order does not change; for money paid to it, a receipt workflow is started before this returns. If there is no
 * payment, or the money already has a receipt, returns only the status, and the caller asks again.
 */
export async function settlePayment(
  em: EntityManager,
  { orderId, payment }: { orderId: string; payment: ConfirmedPayment | null },
  ports: HandlingPorts & { workflows: ReceiptWorkflows },
): Promise<PaymentOrderStatus> {
  /** Whether to start the money's receipt workflow, or wake it because the money has left suspense. */
  let hasCase = false;
  const { order, status } = await withOrder(em, orderId, async (tx, order) => {
    if (payment === null) return order.status;
    const handler = handlerOfOrder(ports, order);
    const awaits = awaitedBy(order);
    const { amount: total } = awaits;
    const isFinal = isFinalOrder(order.status);
    const isKnown = await hasReceipt(tx, payment.providerPaymentId, awaits);
    hasCase = isFinal && !isKnown;
    if (isFinal || isKnown) return order.status;
    assert(compareMoney(payment.amount, total) === 0, 'an order is settled with exactly its total');
    const now = await readDatabaseClock(tx);
    hasCase = await applyReceipt(tx, { payment, orderId: order.id });
    order.provider_fee = await costOfPayment(tx, { reference: order.id, amount: total });
    order.status = 'PAID';
    order.cancelled_at = null;
    order.finalized_at = order.updated_at = now;
    await tx.flush();
    await tellAgain(tx, order);
    const handled = handledPayment(order);
    await handler.effect?.hold?.(tx, handled);
    const journalId = must(
      await postJournal(tx, {
        kind: 'payment-order.settled',
        businessKey: journalKeys.orderSettled(order.id),
        postings: [
          { accountId: systemAccounts.gatewayClearing, amount: subtractMoney(order.provider_fee, total) },
          { accountId: systemAccounts.providerCost, amount: negateMoney(order.provider_fee) },
          { accountId: order.target_account_id, amount: order.nominal },
          { accountId: systemAccounts.feeRevenue, amount: order.admin_fee },
        ],
      }),
      'an open order has no settlement journal',
    );
    const [price] = await recordTransactions(tx, journalId, transactionRows(ports, order));
    const transactionId = must(price, 'a settled order has its row of type price');
    await handler.effect?.inTransaction(tx, handled, transactionId);
    await recordEnd(tx, order, { status: 'PAID', journal_id: journalId });
    return order.status;
  });
  await failpoint('settle-payment.after');
  if (payment !== null && hasCase) await ports.workflows.openUnmatchedReceipt(strayOf(order.provider, payment));
  if (payment !== null && status === 'PAID') await wakeAfterEnd(order, ports);
  return status;
}

/**
 * Writes the receipt of the payment that settles an open row, before the row becomes final: the receipt proves the
 * settlement's journal. Returns whether the money left suspense, where it was because the row was missing after a
 * restore.
 */
export async function applyReceipt(
  tx: EntityManager,
  { payment, orderId, partnerPaymentId }: { payment: ConfirmedPayment; orderId?: string; partnerPaymentId?: string },
): Promise<boolean> {
  const receiptId = receiptIdFor(payment.providerPaymentId);
  const journalId = newId();
  const [{ taken }] = await tx.execute<[{ taken: boolean }]>('select apply_receipt(?, ?, ?, ?, ?, ?) as taken', [
    journalId,
    receiptId,
    payment.providerPaymentId,
    payment.providerPaymentMethodId,
    orderId ?? null,
    partnerPaymentId ?? null,
  ]);
  if (taken) {
    const data = { state: 'applied', reference: orderId ?? partnerPaymentId ?? null, journal_id: journalId };
    await recordAction(tx, byPlatform, 'RESOURCE_UPDATED', ['receipt', receiptId], data);
  }
  return taken;
}

/**
 * The provider's fee (IDR, scale 4): for an order, by its channel's current fee; for a partner payment whose amount is
 * `amount`, from its price; otherwise 0, and reconciliation shows the difference.
 */
export async function costOfPayment(
  tx: EntityManager,
  { reference, amount }: { reference: string; amount: Money },
): Promise<Money> {
  if (!isUuid(reference)) return '0.0000';
  const [row] = await tx.execute<{ cost: Money }[]>(
    `select coalesce(
       (select round(c.provider_fee_fixed + ?::numeric * c.provider_fee_basis_points / 10000, 4)
        from payment_orders o join payment_channels c on c.id = o.payment_id where o.id = ?),
       (select provider_fee from partner_payments where id = ? and amount = ?::numeric), 0)::numeric(20, 4) as cost`,
    [amount, reference, reference, amount],
  );
  return must(row, 'a coalesce has a row').cost;
}

/** Works on a locked order, in one transaction. Returns the order and its resulting status. */
const withOrder = (
  em: EntityManager,
  id: string,
  work: (tx: EntityManager, order: PaymentOrder) => Promise<PaymentOrderStatus>,
): Promise<{ order: PaymentOrder; status: PaymentOrderStatus }> =>
  em.transactional(async (tx) => {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const order = await tx.findOneOrFail(PaymentOrder, { id }, lock);
    return { order, status: await work(tx, order) };
  });

const recordEnd = (tx: EntityManager, { id, request_id }: PaymentOrder, data: object): Promise<void> =>
  recordAction(tx, { actorId: null, requestId: request_id ?? null }, 'RESOURCE_UPDATED', ['payment_order', id], data);

/** The `price` row and, where there is a fee, its own `fee` row (docs/contract.md 2 and 3). */
function transactionRows(ports: HandlingPorts, order: PaymentOrder): TransactionRow[] {
  const handler = handlerOfOrder(ports, order);
  const price: TransactionRow = {
    userId: order.user_id,
    organizationId: order.organization_id ?? null,
    amount: order.nominal,
    type: 'price',
    sourceAccountId: order.target_account_id,
    destinationAccountId: null,
    referenceType: handler.ledgerReferenceType,
    referenceId: order.reference_id,
    purpose: handler.gatewayPurpose,
    paymentOrderId: order.id,
    createdBy: order.user_id,
  };
  return compareMoney(order.admin_fee, '0') === 0
    ? [price]
    : [price, { ...price, type: 'fee', amount: order.admin_fee, sourceAccountId: systemAccounts.feeRevenue }];
}

/**
 * Closes an unpaid order with the handler's effect, in one transaction, then signals the waiting workflows. Skips final
 * orders, and orders whose money is in suspense because it arrived unidentified. With a `refused` attempt, throws as
 * `expectNoAttempt` does.
 */
export async function closePayment(
  em: EntityManager,
  close: { orderId: string; status: 'FAILED' | 'EXPIRED'; failureCode: string | null; refused?: Attempt },
  ports: HandlingPorts,
): Promise<PaymentOrderStatus> {
  const { order, status } = await withOrder(em, close.orderId, async (tx, order) => {
    if (isFinalOrder(order.status) || (await isPaidUnknown(tx, awaitedBy(order)))) return order.status;
    if (close.refused) await expectNoAttempt(tx, 'payment_orders', order.id, close.refused);
    order.status = close.status;
    order.failure_code = close.failureCode;
    order.finalized_at = order.updated_at = await readDatabaseClock(tx);
    await tellAgain(tx, order);
    await handlerOfOrder(ports, order).onClosed?.(tx, handledPayment(order), close.status);
    await recordEnd(tx, order, { status: close.status, failure_code: close.failureCode });
    return close.status;
  });
  await wakeAfterEnd(order, ports);
  return status;
}

/** Signals the workflows waiting for an order that became final; also on a retry, as repeating it is harmless. */
export async function wakeAfterEnd(order: PaymentOrder, ports: HandlingPorts): Promise<void> {
  await handlerOfOrder(ports, order).wake?.(ports.workflows, { referenceId: order.reference_id });
}
