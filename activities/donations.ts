import type { Dependencies } from '../src/dependencies.ts';
import { allocateDonations } from '../src/donations/allocate-donations.ts';
import type { AllocationRequest } from '../src/donations/allocation.ts';
import { openSubscription } from '../src/donations/open-subscription.ts';
import { type PeriodAttempt, paySubscriptionPeriod } from '../src/donations/pay-subscription-period.ts';
import type { SubscriptionOpening } from '../src/donations/subscription.ts';
import { sweepSubscriptions } from '../src/donations/sweep-subscriptions.ts';
import { beating, reportSweepFailure, step } from './step.ts';

/** Activities of donations: an allocation whole, and each payment of a subscription. */
export function createDonationActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  return {
    allocateDonations: step(deps, 'allocateDonations', (em, request: AllocationRequest) =>
      beating(allocateDonations(em, request)),
    ),
    openSubscription: step(
      deps,
      'openSubscription',
      (em, input: { subscriptionId: string; opening: SubscriptionOpening | null; at: string }) =>
        openSubscription(em, input),
    ),
    paySubscriptionPeriod: step(deps, 'paySubscriptionPeriod', (em, attempt: PeriodAttempt) =>
      beating(paySubscriptionPeriod(em, attempt)),
    ),
    sweepSubscriptions: step(deps, 'sweepSubscriptions', (em, _: object) =>
      sweepSubscriptions(em, deps.workflows, failed),
    ),
  };
}
