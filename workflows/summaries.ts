import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';

/**
 * Descriptions of the steps, shown by Temporal's web UI next to their names. The compiler rejects a step without one.
 */
const steps: Record<keyof Activities, string> = {
  openPaymentOrder: 'Record the order',
  requestInstrument: 'Create the instrument at the provider',
  confirmPayment: 'Ask the provider whether it is paid',
  settlePayment: 'Post the payment',
  closePayment: 'Close the order unpaid',
  expireInstrument: 'Expire the instrument at the provider',
  openReceipt: 'Confirm unmatched money and post it to suspense',
  settleReceipt: 'Carry out a decision about money in suspense',
  sweepOverduePayments: 'Wake overdue orders',
  sweepReceipts: 'Open cases of unmatched money',
  redeliverCallbacks: 'Redeliver stored callbacks',
  moveCircle: 'Take the next step of the circle, if one is due',
  sweepSavingCircles: 'Wake overdue circles',
  allocateDonations: 'Move the donations to the cause, all or none',
  openSubscription: 'Record the subscription and pay its first period',
  paySubscriptionPeriod: 'Pay the period that is due',
  sweepSubscriptions: 'Wake overdue subscriptions',
  sweepDecisions: 'Expire or carry out pending decisions',
  openPartnerPayment: 'Record the payment',
  requestPartnerInstrument: 'Create the instrument at the provider',
  confirmPartnerPayment: 'Ask the provider whether it is paid',
  expirePartnerInstrument: 'Expire the instrument at the provider',
  settlePartnerPayment: 'Post the payment; the net is pending',
  closePartnerPayment: 'Close the payment unpaid',
  releasePartnerPayment: 'Make the net available',
  openPartnerInstrument: 'Record the instrument',
  obtainPaymentCode: 'Create the reusable instrument at the provider',
  collectInstrumentPayments: 'Ask the provider for new payments and post them',
  deliverWebhook: 'Send the webhook once',
  sweepDeliveries: 'Wake overdue webhooks',
  reservePayout: 'Reserve the money',
  reserveWithdrawal: 'Reserve the money',
  reserveRefund: 'Check the refundable amount and reserve the money',
  sendTransfer: 'Request the transfer once under its key, and post the result',
  askTransfer: "Ask the provider for the transfer's status, and post the result",
  settlePayout: "Settle the payout as two people decided, or as the provider's status proves",
  sweepPayouts: 'Wake overdue payouts',
  lookAtPayoutBatch: "Update the batch's status",
  beginBatchPayouts: 'Start the next payouts',
  findDaysToReconcile: 'Find the days to compare',
  reconcileDay: 'Compare a day with the provider',
  measureClearing: "Read the books' and the provider's balance at one moment",
  judgeClearing: 'Compare both balances',
  findLedgerChecks: 'List the checks of the ledger',
  runLedgerCheck: 'Run one check of the ledger',
  makeSeal: 'Seal journals',
  forgetOldRows: 'Delete rows past their retention time',
  continueErasure: 'Continue the erasure as far as possible',
};

/** What each kind of workflow does when its timer fires. */
const timers: Readonly<Record<string, string>> = {
  gatewayPayment: 'Asks the provider about the payment',
  partnerPayment: 'Asks the provider about the payment, or makes the net available',
  partnerInstrument: 'Asks the provider what was paid',
  partnerPayout: 'Asks the provider about the transfer',
  partnerPayoutBatch: "Updates the batch's status",
  withdrawal: 'Asks the provider about the transfer',
  paymentRefund: 'Asks the provider about the refund',
  savingCircle: 'Takes the next step of the circle',
  donationSubscription: 'Pays the next period',
  unmatchedReceipt: 'Asks the provider about the money',
  webhookDelivery: 'Sends the webhook again',
  compareClearing: 'Compares both balances',
  personErasure: 'Checks whether the erasure can continue',
};

const isKnown = (name: string): name is keyof Activities => name in steps;

/** Adds a summary to each step and timer in a history; a timer's includes when it fires. */
export function interceptors(): WorkflowInterceptors {
  const summarized = <Input extends { activityType: string; options: object }>(input: Input): Input =>
    isKnown(input.activityType)
      ? { ...input, options: { summary: steps[input.activityType], ...input.options } }
      : input;
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => next(summarized(input)),
        scheduleLocalActivity: (input, next) => next(summarized(input)),
        startTimer(input, next) {
          const what = timers[workflowInfo().workflowType] ?? 'Continues';
          const until = formatWesternIndonesia(new Date(Date.now() + input.durationMs));
          return next({ ...input, options: { summary: `${what} at ${until} (UTC+7)`, ...input.options } });
        },
      },
    ],
  };
}
