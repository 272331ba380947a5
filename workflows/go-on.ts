import {
  CancellationScope,
  getCurrentDetails,
  setCurrentDetails,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';

/** Workflows that handle money or must not stop midway: they complete their work even if cancellation is requested. */
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
  '\n\nCANCELLATION WAS REQUESTED and changes nothing: money may be on its way. The runbook explains how to end it.';

/** Shows operators, in the web UI, what a workflow waits for and whether cancellation was requested. */
export function tellDetails(text: string): void {
  // The shown text itself records whether cancellation was requested: all workflows share this module, so it must not
  // keep state.
  setCurrentDetails(getCurrentDetails().endsWith(answer) ? `${text}${answer}` : text);
}

/**
 * A workflow that handles money ignores a cancellation request from Temporal and says so in its details: cancelled
 * midway, it would be restarted by a sweep anyway. The schedules' workflows can be cancelled as usual.
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
