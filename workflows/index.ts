export { compareClearing } from './compare-clearing.ts';
export { donationAllocation } from './donation-allocation.ts';
export { donationSubscription } from './donation-subscription.ts';
export { gatewayPayment } from './gateway-payment.ts';
export { partnerInstrument } from './partner-instrument.ts';
export { partnerPayment } from './partner-payment.ts';
export { partnerPayoutBatch } from './partner-payout-batch.ts';
export { partnerPayout, paymentRefund, withdrawal } from './payouts.ts';
export { personErasure } from './person-erasure.ts';
export { reconciliation } from './reconciliation.ts';
export { savingCircle } from './saving-circle.ts';
export {
  forgetOldRows,
  redeliverCallbacks,
  runLedgerChecks,
  sweepDecisions,
  sweepDeliveries,
  sweepOverduePayments,
  sweepPayouts,
  sweepReceipts,
  sweepSavingCircles,
  sweepSubscriptions,
} from './schedules.ts';
export { sealJournals } from './seal-journals.ts';
export { unmatchedReceipt } from './unmatched-receipt.ts';
export { webhookDelivery } from './webhook-delivery.ts';
