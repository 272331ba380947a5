import type { Dependencies } from '../src/wiring/dependencies.ts';
import { createCircleActivities } from './circles.ts';
import { createCollectionActivities } from './collections.ts';
import { createControlActivities } from './control.ts';
import { createDonationActivities } from './donations.ts';
import { createHousekeepingActivities } from './housekeeping.ts';
import { createLedgerActivities } from './ledger.ts';
import { createPaymentActivities } from './payments.ts';
import { createPayoutActivities } from './payouts.ts';
import { createWebhookActivities } from './webhooks.ts';

/**
 * The workflows' steps with their dependencies, a file per domain. Their names are in histories and must not change.
 */
export function createActivities(deps: Dependencies) {
  return {
    ...createPaymentActivities(deps),
    ...createCircleActivities(deps),
    ...createDonationActivities(deps),
    ...createCollectionActivities(deps),
    ...createWebhookActivities(deps),
    ...createPayoutActivities(deps),
    ...createControlActivities(deps),
    ...createLedgerActivities(deps),
    ...createHousekeepingActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
