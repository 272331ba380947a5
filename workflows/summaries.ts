import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';

/** What each step does, as Temporal's web UI shows it next to its name; a step without a summary does not compile. */
const steps: Record<keyof Activities, string> = {
  openPaymentOrder: 'Write the order down',
  requestInstrument: 'Have the provider make what the payer pays with',
  confirmPayment: 'Ask the provider whether it is paid',
  settlePayment: 'Book the payment',
  closePayment: 'End the order without a payment',
  expireInstrument: 'Have the provider take no payment any more',
  openReceipt: 'Confirm money that fits nothing open, and put it into suspense',
  settleReceipt: 'Carry out a decision about money in suspense',
  sweepOverduePayments: 'Wake orders that wait too long',
  sweepReceipts: 'Open cases of money that nobody looks after',
  redeliverCallbacks: 'Hand over callbacks again',
  openCircle: 'Write the circle down',
  moveCircle: 'Take the next step of the circle, if one is due',
  sweepSavingCircles: 'Wake circles that wait too long',
  allocateDonations: 'Move the donations to the cause, all or none',
  openSubscription: 'Write the subscription down, and pay its first period',
  paySubscriptionPeriod: 'Pay the period that is due',
  sweepSubscriptions: 'Wake subscriptions that wait too long',
  sweepDecisions: 'End or carry out decisions that wait',
  openPartnerPayment: 'Write the payment down',
  requestPartnerInstrument: 'Have the provider make what the customer pays with',
  confirmPartnerPayment: 'Ask the provider whether it is paid',
  expirePartnerInstrument: 'Have the provider take no payment any more',
  settlePartnerPayment: 'Book the payment, and owe the net',
  closePartnerPayment: 'End the payment without money',
  releasePartnerPayment: 'Make the net available',
  openPartnerInstrument: 'Write the instrument down',
  obtainPaymentCode: 'Have the provider make what customers keep',
  collectInstrumentPayments: 'Ask the provider what was paid, and book it',
  deliverWebhook: 'Send the webhook once',
  sweepDeliveries: 'Wake webhooks that wait too long',
  reservePayout: 'Reserve the money',
  reserveWithdrawal: 'Reserve the money',
  reserveRefund: 'Check what can be refunded and reserve the money',
  sendTransfer: 'Request the transfer, once under its key',
  askTransfer: 'Ask the provider what became of the transfer',
  resolvePayout: "Book what follows from the provider's word",
  settlePayout: "End the payout as two people decided, or as the provider's word proves",
  sweepPayouts: 'Wake payouts that wait too long',
  lookAtPayoutBatch: 'See what became of the batch',
  beginBatchPayouts: 'Begin the next payouts',
  findDaysToReconcile: 'Find the days that are not compared yet',
  reconcileDay: 'Compare a day with the provider',
  measureClearing: "Read the books and the provider's balance at one moment",
  judgeClearing: 'Judge what was measured',
  findLedgerChecks: 'Find what the books have to prove',
  runLedgerCheck: 'Have the books prove one thing',
  makeSeal: 'Seal journals',
  forgetOldRows: 'Forget what is kept for a time only',
  continueErasure: 'Take the erasure as far as it may go',
};

/** What each kind of workflow does when its timer ends. */
const timers: Readonly<Record<string, string>> = {
  gatewayPayment: 'Asks the provider about the payment',
  partnerPayment: 'Asks the provider about the payment, or makes the net available',
  partnerInstrument: 'Asks the provider what was paid',
  partnerPayout: 'Asks the provider about the transfer',
  partnerPayoutBatch: 'Looks at the batch again',
  withdrawal: 'Asks the provider about the transfer',
  paymentRefund: 'Asks the provider about the refund',
  savingCircle: 'Takes the next step of the circle',
  donationSubscription: 'Pays the next period',
  unmatchedReceipt: 'Asks about the money again',
  webhookDelivery: 'Sends the webhook again',
  compareClearing: 'Judges what was measured',
  personErasure: 'Looks whether the erasure may go on',
};

const isKnown = (name: string): name is keyof Activities => name in steps;

/** Adds a summary to each step and timer in a history; a timer's says until when it waits. */
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
          const what = timers[workflowInfo().workflowType] ?? 'Goes on';
          const until = formatWesternIndonesia(new Date(Date.now() + input.durationMs));
          return next({ ...input, options: { summary: `${what} at ${until} (UTC+7)`, ...input.options } });
        },
      },
    ],
  };
}
