import { heartbeat } from '@temporalio/activity';
import type { Dependencies } from '../src/dependencies.ts';
import { allocateDonations } from '../src/donations/allocate-donations.ts';
import type { AllocationRequest } from '../src/donations/allocation.ts';
import { openSubscription } from '../src/donations/open-subscription.ts';
import { type PeriodAttempt, paySubscriptionPeriod } from '../src/donations/pay-subscription-period.ts';
import type { SubscriptionOpening } from '../src/donations/subscription.ts';
import { budgets } from '../src/shared/budgets.ts';
import { step } from './step.ts';

/** Tells Temporal that the step is alive while it waits, for a lock or for a long statement. */
async function beating<T>(deed: Promise<T>): Promise<T> {
  const beats = setInterval(() => heartbeat(), budgets.heartbeat.every);
  try {
    return await deed;
  } finally {
    clearInterval(beats);
  }
}

/** Activities of giving: an allocation whole, and each payment of a subscription. */
export function createGivingActivities(deps: Dependencies) {
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
  };
}
