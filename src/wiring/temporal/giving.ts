import type { AllocationWorkflows } from '../../giving/donations/allocation.ts';
import type { SubscriptionWorkflows } from '../../giving/donations/subscription.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Hints } from './hints.ts';
import type { Temporal } from './temporal.ts';

export function createSubscriptionWorkflows(temporal: Temporal, hints: Hints): SubscriptionWorkflows {
  const signal = (subscriptionId: string): Promise<void> => {
    const run = {
      workflow: 'donationSubscription' as const,
      subject: subscriptionId,
      input: { subscriptionId: canonicalId(subscriptionId) },
      summary: 'A recurring donation, resumed',
    };
    return temporal.signalWithStart(run, 'subscriptionStopped');
  };
  return {
    startDonationSubscription(input, waitMs) {
      const run = {
        workflow: 'donationSubscription' as const,
        subject: input.subscriptionId,
        input: {
          ...input,
          opening: temporal.prove({ kind: 'donation_subscription', resourceId: input.subscriptionId }, input.opening),
        },
        summary: `A ${input.opening.interval} donation of IDR ${input.opening.amount}`,
      };
      return temporal.startAndAwait(run, { name: 'awaitFirstPayment' }, waitMs);
    },
    wakeSubscription: async (subscriptionId) => void (await hints.send(() => signal(subscriptionId))),
    lookAfterSubscription: signal,
  };
}

export const createAllocationWorkflows = (temporal: Temporal): AllocationWorkflows => ({
  runDonationAllocation(request, waitMs) {
    const run = {
      workflow: 'donationAllocation' as const,
      subject: request.batchId,
      input: temporal.prove({ kind: 'donation_allocation', resourceId: request.batchId }, request),
      summary: 'Open donations, allocated to a cause as one batch',
    };
    return temporal.startAndAwaitEnd(run, waitMs);
  },
});
