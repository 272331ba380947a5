import type { ReceiptDecisions, ReceiptWorkflows, StrayPayment } from '../payments/payment-contract.ts';
import { receiptReusePolicy } from '../payments/receipt.ts';
import type { Temporal, WorkflowRun } from './temporal.ts';
import { handDecision } from './update-id.ts';

export const createReceiptWorkflows = (temporal: Temporal): ReceiptWorkflows & ReceiptDecisions => ({
  openUnmatchedReceipt: (stray) => temporal.signalWithStart(caseOf(stray), 'receiptChanged'),
  decideReceipt: (stray, decision, waitMs) =>
    handDecision(decision, (update) =>
      temporal.startAndAwait(caseOf(stray), { name: 'settleReceipt', ...update }, waitMs),
    ),
});

const caseOf = (stray: StrayPayment): WorkflowRun<'unmatchedReceipt'> => ({
  workflow: 'unmatchedReceipt',
  subject: stray.receiptId,
  input: stray,
  reusePolicy: receiptReusePolicy,
  summary: 'Money that could not be applied to an order',
});
