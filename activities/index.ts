import type { Dependencies } from '../src/dependencies.ts';
import { createCallbackActivities } from './callbacks.ts';
import { createCircleActivities } from './circles.ts';
import { createClearingActivities } from './clearing.ts';
import { createGivingActivities } from './giving.ts';
import { createPartnerActivities } from './partner-payments.ts';
import { createPaymentActivities } from './payments.ts';
import { createPayoutActivities } from './payouts.ts';
import { createSealActivities } from './seals.ts';

/** The hands of the workflows, closed over what they work with. Their names live in histories for ever. */
export function createActivities(deps: Dependencies) {
  return {
    ...createPaymentActivities(deps),
    ...createCallbackActivities(deps),
    ...createCircleActivities(deps),
    ...createGivingActivities(deps),
    ...createPartnerActivities(deps),
    ...createPayoutActivities(deps),
    ...createClearingActivities(deps),
    ...createSealActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
