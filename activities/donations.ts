import { allocateDonations } from '../src/giving/donations/allocate-donations.ts';
import type { AllocationRequest } from '../src/giving/donations/allocation.ts';
import { openSubscription } from '../src/giving/donations/open-subscription.ts';
import { type PeriodAttempt, paySubscriptionPeriod } from '../src/giving/donations/pay-subscription-period.ts';
import type { SubscriptionOpening } from '../src/giving/donations/subscription.ts';
import { sweepSubscriptions } from '../src/giving/donations/sweep-subscriptions.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { beating, repeating, reportSweepFailure, step } from './step.ts';

interface Beginning {
  subscriptionId: string;
  opening: Proved<SubscriptionOpening> | null;
  /** ISO 8601, the workflow's clock. */
  at: string;
}

/** Activities of donations: allocations, and subscriptions from their opening to each payment. */
export function createDonationActivities(deps: Dependencies) {
  const dueBy = { skipsTime: deps.config.TEMPORAL_SKIPS_TIME };
  const failed = reportSweepFailure(deps);
  return {
    allocateDonations: step(deps, 'allocateDonations', (em, request: Proved<AllocationRequest>) => {
      const place = { kind: 'donation_allocation', resourceId: String(request.batchId) } as const;
      return beating(allocateDonations(em, provenOpening(deps.prover, place, request)));
    }),
    openSubscription: step(deps, 'openSubscription', (em, { subscriptionId, opening, at }: Beginning) => {
      const place = { kind: 'donation_subscription', resourceId: subscriptionId } as const;
      return openSubscription(em, {
        subscriptionId,
        opening: opening && provenOpening(deps.prover, place, opening),
        at,
      });
    }),
    paySubscriptionPeriod: step(deps, 'paySubscriptionPeriod', (em, attempt: PeriodAttempt) =>
      beating(repeating(paySubscriptionPeriod(em, attempt, dueBy))),
    ),
    sweepSubscriptions: step(deps, 'sweepSubscriptions', (em, _: object) =>
      sweepSubscriptions(em, deps.workflows, failed),
    ),
  };
}
