import type { ReceiptWorkflows } from '../payments/payment-contract.ts';
import { receiptReusePolicy } from '../payments/receipt.ts';
import { workflowIds } from '../shared/workflow-ids.ts';
import type { Temporal } from './temporal.ts';

export const createReceiptWorkflows = (temporal: Temporal): ReceiptWorkflows => ({
  openUnmatchedReceipt: (stray) =>
    temporal.startOnce({
      workflow: 'unmatchedReceipt',
      id: workflowIds.unmatchedReceipt(stray.receiptId),
      input: stray,
      reusePolicy: receiptReusePolicy,
      summary: 'Money that could not be applied to an order',
    }),
});
