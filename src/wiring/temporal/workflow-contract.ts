import type { SavingCircleInput } from '../../circles/circle-contract.ts';
import type { ErasureStatus, PersonErasureInput } from '../../control/erasure/erasure.ts';
import type { AllocationOutcome, AllocationRequest } from '../../giving/donations/allocation.ts';
import type { DonationSubscriptionInput, SubscriptionStanding } from '../../giving/donations/subscription.ts';
import type { PartnerPaymentInput } from '../../money-in/collections/partner-payment.ts';
import type {
  PartnerInstrumentInput,
  PartnerInstrumentStatus,
} from '../../money-in/partner-instruments/partner-instrument.ts';
import type { GatewayPaymentInput, StrayPayment } from '../../money-in/payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../../money-in/payments/payment-order.ts';
import type { ReceiptState } from '../../money-in/payments/receipt.ts';
import type { PayoutBatchInput, PayoutBatchStatus } from '../../money-out/payout-batches/payout-batch.ts';
import type { PartnerPayoutInput, PayoutStatus } from '../../money-out/payouts/payout.ts';
import type { RefundInput } from '../../money-out/refunds/refund.ts';
import type { WithdrawalInput } from '../../money-out/withdrawals/withdrawal.ts';
import type { WebhookDeliveryInput } from '../../partners/webhooks/webhook-delivery.ts';

/**
 * Inputs and results of the workflows that requests start, by workflow name; histories keep the names forever. The
 * workflow code is not imported, because it leads through the activities back to the API. A test compares them.
 */
export interface WorkflowContract {
  gatewayPayment: {
    input: GatewayPaymentInput;
    updates: { awaitInstrument: PaymentOrderStatus };
    signals: 'callbackArrived';
  };
  partnerPayment: {
    input: PartnerPaymentInput;
    updates: { awaitInstrument: PaymentOrderStatus };
    signals: 'callbackArrived';
  };
  partnerInstrument: {
    input: PartnerInstrumentInput;
    updates: { awaitPaymentCode: PartnerInstrumentStatus };
    signals: 'callbackArrived';
  };
  partnerPayout: {
    input: PartnerPayoutInput;
    updates: { awaitReservation: PayoutStatus; settlePayout: PayoutStatus };
    signals: 'callbackArrived';
  };
  partnerPayoutBatch: { input: PayoutBatchInput; result: PayoutBatchStatus; signals: 'batchChanged' };
  withdrawal: {
    input: WithdrawalInput;
    updates: { awaitReservation: PayoutStatus; settlePayout: PayoutStatus };
    signals: 'callbackArrived';
  };
  paymentRefund: {
    input: RefundInput;
    updates: { awaitReservation: PayoutStatus; settlePayout: PayoutStatus };
    signals: 'callbackArrived';
  };
  savingCircle: { input: SavingCircleInput; signals: 'circleChanged' };
  donationAllocation: { input: AllocationRequest; result: AllocationOutcome };
  donationSubscription: {
    input: DonationSubscriptionInput;
    updates: { awaitFirstPayment: SubscriptionStanding };
    signals: 'subscriptionStopped';
  };
  unmatchedReceipt: { input: StrayPayment; updates: { settleReceipt: ReceiptState }; signals: 'receiptChanged' };
  webhookDelivery: { input: WebhookDeliveryInput; signals: 'redeliveryAsked' };
  personErasure: { input: PersonErasureInput; result: ErasureStatus };
}

export type WorkflowName = keyof WorkflowContract;

/** The updates of a workflow, with their results. */
export type UpdatesOf<Name extends WorkflowName> = WorkflowContract[Name] extends { updates: infer Updates }
  ? Updates
  : never;
/** The signals of a workflow. */
export type SignalOf<Name extends WorkflowName> = WorkflowContract[Name] extends {
  signals: infer Signal extends string;
}
  ? Signal
  : never;
/** The result of a workflow. */
export type ResultOf<Name extends WorkflowName> = WorkflowContract[Name] extends { result: infer Result }
  ? Result
  : never;
