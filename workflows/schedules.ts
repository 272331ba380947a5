import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { checksStep, sweepStep } from './step-options.ts';

const activities = proxyActivities<Activities>(sweepStep);
const { runLedgerChecks: checkLedger } = proxyActivities<Activities>(checksStep);

/** Started by a schedule: hands over callbacks that were stored while Temporal was away. Returns how many. */
export function redeliverCallbacks(): Promise<number> {
  return activities.redeliverCallbacks({});
}

/** Started by a schedule: wakes or restarts payments that are past their deadline and open. Returns how many. */
export function sweepOverduePayments(): Promise<number> {
  return activities.sweepOverduePayments({});
}

/** Started by a schedule: sees to it that every receipt in suspense has its workflow. Returns how many it looked at. */
export function sweepReceipts(): Promise<number> {
  return activities.sweepReceipts({});
}

/** Started by a schedule: ends decisions that are too old, and carries out what was approved. Returns how many. */
export function sweepDecisions(): Promise<number> {
  return activities.sweepDecisions({});
}

/** Started by a schedule: wakes or restarts subscriptions whose next attempt is late. Returns how many. */
export function sweepSubscriptions(): Promise<number> {
  return activities.sweepSubscriptions({});
}

/** Started by a schedule: wakes or restarts saving circles that should have moved on. Returns how many. */
export function sweepSavingCircles(): Promise<number> {
  return activities.sweepSavingCircles({});
}

/** Started by a schedule: forgets what is kept for a time only. Returns how many rows. */
export function forgetOldRows(): Promise<number> {
  return activities.forgetOldRows({});
}

/** Started by a schedule: reads the `check_*` views and raises a metric. Returns the names of those that are not empty. */
export function runLedgerChecks(): Promise<string[]> {
  return checkLedger({});
}

/** Started by a schedule: wakes payouts that want to be looked at, or whose workflow was lost. Returns how many. */
export function sweepPayouts(): Promise<number> {
  return activities.sweepPayouts({});
}

/** Started by a schedule: starts the delivery of webhooks that are overdue. Returns how many. */
export function sweepDeliveries(): Promise<number> {
  return activities.sweepDeliveries({});
}

/** Started by a schedule: forgets idempotent answers of partners that are older than they are kept. Returns how many. */
export function sweepPartnerAnswers(): Promise<number> {
  return activities.sweepPartnerAnswers({});
}
