/** Workflow ids (decisions 9). Apart from `ids.ts` only so that workflow code can use them without a hash library. */
export const workflowIds = {
  gatewayPayment: (orderId: string): string => `gateway-payment/${orderId}`,
  unmatchedReceipt: (receiptId: string): string => `unmatched-receipt/${receiptId}`,
} as const;
