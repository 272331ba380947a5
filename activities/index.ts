import type { Dependencies } from '../src/wiring/dependencies.ts';
import { createCallbackActivities } from './callbacks.ts';
import { createCircleActivities } from './circles.ts';
import { createCollectionActivities } from './collections.ts';
import { createDecisionActivities } from './decisions.ts';
import { createDonationActivities } from './donations.ts';
import { createErasureActivities } from './erasure.ts';
import { createHousekeepingActivities } from './housekeeping.ts';
import { createLedgerActivities } from './ledger.ts';
import { createPaymentActivities } from './payments.ts';
import { createPayoutActivities } from './payouts.ts';
import { createReconciliationActivities } from './reconciliation.ts';
import { createSealActivities } from './seals.ts';
import { createWebhookActivities } from './webhooks.ts';

/**
 * The workflows' steps, a file per domain, with their dependencies. Their names are in histories and must not change.
 */
export function createActivities(deps: Dependencies) {
  return {
    ...createPaymentActivities(deps),
    ...createCallbackActivities(deps),
    ...createCircleActivities(deps),
    ...createDonationActivities(deps),
    ...createDecisionActivities(deps),
    ...createCollectionActivities(deps),
    ...createWebhookActivities(deps),
    ...createPayoutActivities(deps),
    ...createReconciliationActivities(deps),
    ...createLedgerActivities(deps),
    ...createSealActivities(deps),
    ...createHousekeepingActivities(deps),
    ...createErasureActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
