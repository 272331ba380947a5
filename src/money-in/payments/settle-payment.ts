import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { postJournal, recordTransactions, type TransactionRow } from '../../ledger/post-journal.ts';
import { tellAgain } from '../../platform/callbacks/tell-again.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { assert, must } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys } from '../../shared/ids.ts';
import { addMoney, compareMoney, negateMoney, subtractMoney } from '../../shared/money.ts';
import { applyReceipt } from './apply-receipt.ts';
import { wakeAfterEnd } from './close-payment.ts';
import { strayOf } from './confirm-payment.ts';
import { hasReceipt } from './find-receipts.ts';
import { handledPayment, handlerOfOrder } from './handled-payment.ts';
import type { HandledPayment, HandlingPorts, PaymentEffect, SettledIn, WakingPort } from './handler.ts';
import type { ConfirmedPayment, ReceiptWorkflows } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';
import { costOfPayment } from './provider-cost.ts';

/** As for every step; the workflow of a stray receipt may be woken, too. */
interface SettlingPorts extends HandlingPorts {
  workflows: WakingPort & ReceiptWorkflows;
}

/**
 * Settles a paid order, once: journal (clearing and provider cost -> target and fee revenue), transaction rows, the
 * handler's effect, receipt and event in one transaction. `payment.amount` (IDR, scale 4) must be nominal plus fee, as
 * the provider confirmed it. A final order stays as it is; other money that arrives for it gets its own receipt
 * workflow before this step ends. Money that already has a receipt does not pay this order: nothing is done, the status
 * is returned as it stands, and the caller asks again; likewise when no payment is confirmed (null).
 */
export async function settlePayment(
  em: EntityManager,
  { orderId, payment }: { orderId: string; payment: ConfirmedPayment | null },
  ports: SettlingPorts,
): Promise<PaymentOrderStatus> {
  let wake = async () => {};
  /** Whether the money has a case of its own: one to open, or one that waits for people and need not any more. */
  let hasCase = false;
  let provider = '';
  const status = await em.transactional(async (tx) => {
    const order = await tx.findOneOrFail(
      PaymentOrder,
      { id: orderId },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    const handler = handlerOfOrder(ports, order);
    if (payment === null) return order.status;
    provider = order.provider;
    wake = () => wakeAfterEnd(order, ports);
    const total = addMoney(order.nominal, order.admin_fee);
    const isFinal = isFinalOrder(order.status);
    const isKnown = await hasReceipt(tx, payment.providerPaymentId, { reference: order.id, amount: total });
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
    await makeEffect(tx, handler.effect, handled, { transactionId });
    await handler.onPaid?.(tx, handled);
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'payment_order',
      resourceId: order.id,
      actorId: null,
      requestId: order.request_id ?? null,
      data: { status: 'PAID', journal_id: journalId },
    });
    return order.status;
  });
  await failpoint('settle-payment.after');
  if (payment !== null && hasCase) await ports.workflows.openUnmatchedReceipt(strayOf(provider, payment));
  if (status === 'PAID') await wake();
  return status;
}

/** Applies the payment's effect. */
async function makeEffect(
  tx: EntityManager,
  effect: PaymentEffect | undefined,
  payment: HandledPayment,
  settledIn: SettledIn,
): Promise<void> {
  if (effect === undefined) return;
  if ('inTransaction' in effect) return effect.inTransaction(tx, payment, settledIn);
  const { call, params } = effect.sql(payment, settledIn);
  await tx.execute(`select ${call}`, [...params]);
}

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
