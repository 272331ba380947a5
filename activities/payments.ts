import { cancellationSignal } from '@temporalio/activity';
import { redeliverCallbacks } from '../src/money-in/callbacks/deliver-callback.ts';
import { openReceipt } from '../src/money-in/callbacks/open-receipt.ts';
import { sweepOverduePayments } from '../src/money-in/callbacks/sweep-overdue-payments.ts';
import { sweepReceipts } from '../src/money-in/callbacks/sweep-receipts.ts';
import { confirmInstrument } from '../src/money-in/payments/confirm-payment.ts';
import { expireInstrument } from '../src/money-in/payments/obtain-instrument.ts';
import { openPaymentOrder } from '../src/money-in/payments/open-payment-order.ts';
import type { ConfirmedPayment, PaymentOpening, StrayPayment } from '../src/money-in/payments/payment-contract.ts';
import type { ReceiptSettlement } from '../src/money-in/payments/receipt.ts';
import { requestInstrument } from '../src/money-in/payments/request-instrument.ts';
import { closePayment, settlePayment } from '../src/money-in/payments/settle-payment.ts';
import { settleReceipt } from '../src/money-in/payments/settle-receipt.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { boundLocal } from './bound-local.ts';
import { proveConfirmation, provenPayment } from './proven-payment.ts';
import { reportSweepFailure, step } from './step.ts';

interface Order {
  orderId: string;
}

const instrumentOf = (id: string) => ({ table: 'payment_orders', id }) as const;

/**
 * Activities of gateway payments, callbacks and receipts, one per business step; each is idempotent for its order or
 * receipt.
 */
export function createPaymentActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { gateways, prover, config } = deps;
  return {
    openPaymentOrder: step(
      deps,
      'openPaymentOrder',
      (em, { orderId, opening, at }: Order & { opening: Proved<PaymentOpening> | null; at: string }) => {
        const place = { kind: 'payment_order', resourceId: orderId } as const;
        return openPaymentOrder(em, { orderId, opening: opening && provenOpening(prover, place, opening), at }, deps);
      },
    ),
    requestInstrument: boundLocal(
      deps,
      'requestInstrument',
      step(deps, 'requestInstrument', (em, { orderId }: Order) =>
        requestInstrument(em, deps, {
          ...{ orderId, publicUrl: config.PUBLIC_URL },
          signal: cancellationSignal(),
        }),
      ),
    ),
    confirmPayment: step(deps, 'confirmPayment', async (em, { orderId, briefly }: Order & { briefly?: boolean }) =>
      proveConfirmation(
        prover,
        orderId,
        await confirmInstrument(em, gateways, { ...instrumentOf(orderId), briefly, signal: cancellationSignal() }),
      ),
    ),
    settlePayment: step(
      deps,
      'settlePayment',
      (em, { orderId, payment }: Order & { payment: Proved<ConfirmedPayment> }) =>
        settlePayment(em, { orderId, payment: provenPayment(deps, orderId, payment) }, deps),
    ),
    closePayment: step(
      deps,
      'closePayment',
      (em, input: Order & { status: 'FAILED' | 'EXPIRED'; failureCode: string | null }) =>
        closePayment(em, input, deps),
    ),
    expireInstrument: step(deps, 'expireInstrument', (em, { orderId }: Order) =>
      expireInstrument(em, gateways, { ...instrumentOf(orderId), signal: cancellationSignal() }),
    ),
    openReceipt: step(deps, 'openReceipt', (em, stray: StrayPayment) =>
      openReceipt(em, deps, { stray, signal: cancellationSignal() }),
    ),
    settleReceipt: step(deps, 'settleReceipt', (em, input: { receiptId: string; settlement: ReceiptSettlement }) =>
      settleReceipt(em, deps, input),
    ),
    sweepOverduePayments: step(deps, 'sweepOverduePayments', (em, _: object) =>
      sweepOverduePayments(em, deps.workflows, failed),
    ),
    sweepReceipts: step(deps, 'sweepReceipts', (em, _: object) => sweepReceipts(em, deps.workflows, failed)),
    redeliverCallbacks: step(deps, 'redeliverCallbacks', (em, _: object) => redeliverCallbacks(em, deps, failed)),
  };
}
