import {
  CancellationScope,
  getCurrentDetails,
  setCurrentDetails,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';

/** Workflows that handle money or a promise of it: what they began is finished even when cancellation is requested. */
const lookAfterMoney: ReadonlySet<string> = new Set([
  'gatewayPayment',
  'partnerPayment',
  'partnerInstrument',
  'partnerPayout',
  'partnerPayoutBatch',
  'withdrawal',
  'paymentRefund',
  'savingCircle',
  'donationAllocation',
  'donationSubscription',
  'unmatchedReceipt',
  'webhookDelivery',
  'personErasure',
]);

const answer =
  '\n\nCANCELLATION WAS REQUESTED and changes nothing: this goes on, as money may be on its way. The runbook says how it is ended.';

/** Shows operators in the web UI what a workflow waits for; a cancellation request stays shown from then on. */
export function tellDetails(text: string): void {
  // What is shown says whether cancellation was requested: this module belongs to all workflows, and keeps nothing.
  setCurrentDetails(getCurrentDetails().endsWith(answer) ? `${text}${answer}` : text);
}

/**
 * A workflow that handles money ignores a cancellation request from Temporal: half of its steps would be left undone,
 * and a sweep would start it again. Its details say so. The schedules' workflows can be cancelled as usual.
 */
export function interceptors(): WorkflowInterceptors {
  if (!lookAfterMoney.has(workflowInfo().workflowType)) return {};
  return {
    inbound: [
      {
        execute(input, next) {
          CancellationScope.current().cancelRequested.catch(() => {
            setCurrentDetails(`${getCurrentDetails()}${answer}`);
          });
          return CancellationScope.nonCancellable(() => next(input));
        },
        handleSignal: (input, next) => CancellationScope.nonCancellable(() => next(input)),
        handleUpdate: (input, next) => CancellationScope.nonCancellable(() => next(input)),
      },
    ],
  };
}
