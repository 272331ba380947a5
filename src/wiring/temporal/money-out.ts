import type { SearchAttributePair } from '@temporalio/common';
import type { PayoutBatchWorkflows } from '../../money-out/payout-batches/payout-batch.ts';
import type { PayoutKind, PayoutPlace, PayoutWorkflows } from '../../money-out/payouts/payout.ts';
import type { RefundWorkflows } from '../../money-out/refunds/refund.ts';
import type { WithdrawalWorkflows } from '../../money-out/withdrawals/withdrawal.ts';
import { type Money, wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Hints } from './hints.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import { type Temporal, updateIdOf, type WorkflowRun } from './temporal.ts';

export const createMoneyOutWorkflows = (
  temporal: Temporal,
): PayoutWorkflows & WithdrawalWorkflows & RefundWorkflows => ({
  startPartnerPayout(payoutId, opening, waitMs) {
    const run = {
      workflow: 'partnerPayout' as const,
      subject: payoutId,
      input: { payoutId, opening: temporal.prove({ kind: 'payout', resourceId: payoutId }, opening) },
      summary: `Partner payout: IDR ${opening.net} to ${opening.bankCode}, fee ${opening.fee}`,
      attributes: attributesOf(opening),
    };
    return temporal.startAndAwait(run, reservationOf(payoutId), waitMs);
  },
  startWithdrawal(withdrawalId, opening, waitMs) {
    const run = {
      workflow: 'withdrawal' as const,
      subject: withdrawalId,
      input: {
        payoutId: withdrawalId,
        opening: temporal.prove({ kind: 'withdrawal', resourceId: withdrawalId }, opening),
      },
      summary: `Withdrawal: IDR ${opening.net}, fee ${opening.fee}`,
      attributes: attributesOf(opening),
    };
    return temporal.startAndAwait(run, reservationOf(withdrawalId), waitMs);
  },
  startPaymentRefund(refundId, opening, waitMs) {
    const run = {
      workflow: 'paymentRefund' as const,
      subject: refundId,
      input: {
        payoutId: refundId,
        opening: temporal.prove({ kind: 'payment_refund', resourceId: refundId }, opening),
      },
      summary: `Refund: IDR ${opening.amount} to ${opening.bankCode ?? 'the wallet that paid'}`,
      attributes: attributesOf(opening),
    };
    return temporal.startAndAwait(run, reservationOf(refundId), waitMs);
  },
  hintPayout: (payout) => temporal.signalWithStart(again(payout), 'callbackArrived'),
});

const attributesOf = ({ partnerId, amount }: { partnerId?: string; amount: Money }): SearchAttributePair[] => [
  { key: searchAttributeKeys.PayoutState, value: 'RESERVED' },
  ...(partnerId === undefined ? [] : [{ key: searchAttributeKeys.PartnerId, value: partnerId }]),
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(amount) },
];

/** The update that returns once the money is reserved. */
const reservationOf = (payoutId: string) => ({
  name: 'awaitReservation' as const,
  id: updateIdOf('reservation', payoutId),
});

const families = {
  partner_payout: { workflow: 'partnerPayout', summary: 'A partner payout, resumed' },
  withdrawal: { workflow: 'withdrawal', summary: 'A withdrawal, resumed' },
  payment_refund: { workflow: 'paymentRefund', summary: 'A refund, resumed' },
} as const satisfies Record<PayoutKind, { workflow: string; summary: string }>;

/** The workflow of a payout that already has its row: signalled if it is running, otherwise restarted. */
const again = ({ id, kind }: PayoutPlace): WorkflowRun<(typeof families)[PayoutKind]['workflow']> => ({
  ...families[kind],
  subject: id,
  input: { payoutId: canonicalId(id) },
});

export function createPayoutBatchWorkflows(temporal: Temporal, hints: Hints): PayoutBatchWorkflows {
  const wake = (batchId: string): Promise<void> => {
    const run = {
      workflow: 'partnerPayoutBatch' as const,
      subject: batchId,
      input: { batchId: canonicalId(batchId) },
      summary: 'A batch of payouts',
    };
    return temporal.signalWithStart(run, 'batchChanged');
  };
  return {
    wakePayoutBatch: async (batchId) => void (await hints.send(() => wake(batchId))),
    lookAfterPayoutBatch: wake,
  };
}
