/** Workflow ids (decisions 9). Apart from `ids.ts` only so that workflow code can use them without a hash library. */
export const workflowIds = {
  gatewayPayment: (orderId: string): string => `gateway-payment/${orderId}`,
  partnerPayment: (paymentId: string): string => `partner-payment/${paymentId}`,
  partnerPayout: (payoutId: string): string => `partner-payout/${payoutId}`,
  webhookDelivery: (deliveryId: string): string => `webhook-delivery/${deliveryId}`,
  savingCircle: (circleId: string): string => `saving-circle/${circleId}`,
  donationAllocation: (batchId: string): string => `donation-allocation/${batchId}`,
  donationSubscription: (subscriptionId: string): string => `donation-subscription/${subscriptionId}`,
  unmatchedReceipt: (receiptId: string): string => `unmatched-receipt/${receiptId}`,
} as const;
