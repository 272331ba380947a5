import type { ReceiptWorkflows } from '../payments/payment-contract.ts';
import { receiptReusePolicy } from '../payments/receipt.ts';
import type { Temporal } from './temporal.ts';

export const createReceiptWorkflows = (temporal: Temporal): ReceiptWorkflows => ({
  openUnmatchedReceipt: (stray) =>
    temporal.startOnce({
      workflow: 'unmatchedReceipt',
      subject: stray.receiptId,
      input: stray,
      reusePolicy: receiptReusePolicy,
      summary: 'Money that could not be applied to an order',
    }),
});
