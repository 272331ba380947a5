import type { ReceiptWorkflows, StrayPayment } from '../../money-in/payments/payment-contract.ts';
import { receiptReusePolicy } from '../../money-in/payments/receipt.ts';
import type { Temporal, WorkflowRun } from './temporal.ts';

export const createReceiptWorkflows = (temporal: Temporal): ReceiptWorkflows => ({
  openUnmatchedReceipt: (stray) => temporal.signalWithStart(caseOf(stray), 'receiptChanged'),
});

const caseOf = (stray: StrayPayment): WorkflowRun<'unmatchedReceipt'> => ({
  workflow: 'unmatchedReceipt',
  subject: stray.receiptId,
  input: stray,
  reusePolicy: receiptReusePolicy,
  summary: 'Money that could not be applied to an order',
});
