import { CancellationScope, setCurrentDetails, type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';

/** Workflows that look after money or a promise about it: what they began comes to its end, whoever wants otherwise. */
const lookAfterMoney: ReadonlySet<string> = new Set([
  'gatewayPayment',
  'partnerPayment',
  'partnerPayout',
  'withdrawal',
  'savingCircle',
  'donationAllocation',
  'donationSubscription',
  'unmatchedReceipt',
  'webhookDelivery',
]);

const answer =
  '\n\nCANCELLATION WAS REQUESTED and changes nothing: this goes on, as money may be on its way. The runbook says how it is ended.';

let details = '';
let isCancelled = false;

/** Tells operators in the web UI what a workflow waits for; that it was asked to be cancelled stays told. */
export function tellDetails(text: string): void {
  details = text;
  setCurrentDetails(isCancelled ? `${text}${answer}` : text);
}

/**
 * A workflow of money goes on when its cancellation is requested in Temporal: half of its steps would be left undone, and
 * a sweep would begin it anew. It says so in its details. Schedules' workflows are cancelled as usual.
 */
export function interceptors(): WorkflowInterceptors {
  if (!lookAfterMoney.has(workflowInfo().workflowType)) return {};
  return {
    inbound: [
      {
        execute(input, next) {
          CancellationScope.current().cancelRequested.catch(() => {
            isCancelled = true;
            tellDetails(details);
          });
          return CancellationScope.nonCancellable(() => next(input));
        },
        handleSignal: (input, next) => CancellationScope.nonCancellable(() => next(input)),
        handleUpdate: (input, next) => CancellationScope.nonCancellable(() => next(input)),
      },
    ],
  };
}
