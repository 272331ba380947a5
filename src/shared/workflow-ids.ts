import { canonicalId } from './uuid.ts';

/**
 * Workflow ids: one per resource id, in any spelling. Separate from `ids.ts` only so that workflow code can use them
 * without a hash library.
 */
export const workflowIds = {
  gatewayPayment: (orderId: string): string => `gateway-payment/${canonicalId(orderId)}`,
  partnerPayment: (paymentId: string): string => `partner-payment/${canonicalId(paymentId)}`,
  partnerInstrument: (instrumentId: string): string => `partner-instrument/${canonicalId(instrumentId)}`,
  partnerPayout: (payoutId: string): string => `partner-payout/${canonicalId(payoutId)}`,
  partnerPayoutBatch: (batchId: string): string => `partner-payout-batch/${canonicalId(batchId)}`,
  paymentRefund: (refundId: string): string => `payment-refund/${canonicalId(refundId)}`,
  withdrawal: (withdrawalId: string): string => `withdrawal/${canonicalId(withdrawalId)}`,
  webhookDelivery: (deliveryId: string): string => `webhook-delivery/${canonicalId(deliveryId)}`,
  savingCircle: (circleId: string): string => `saving-circle/${canonicalId(circleId)}`,
  donationAllocation: (batchId: string): string => `donation-allocation/${canonicalId(batchId)}`,
  donationSubscription: (subscriptionId: string): string => `donation-subscription/${canonicalId(subscriptionId)}`,
  personErasure: (erasureId: string): string => `person-erasure/${canonicalId(erasureId)}`,
  unmatchedReceipt: (receiptId: string): string => `unmatched-receipt/${canonicalId(receiptId)}`,
} as const;
