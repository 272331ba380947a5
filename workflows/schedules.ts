import { ActivityFailure, ApplicationFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { checksStep, sweepStep } from './step-options.ts';

const activities = proxyActivities<Activities>(sweepStep);
const { findLedgerChecks } = activities;
const { runLedgerCheck } = proxyActivities<Activities>(checksStep);

/** Started by a schedule: delivers callbacks that were stored while Temporal was unavailable. Returns how many. */
export function redeliverCallbacks(): Promise<number> {
  return activities.redeliverCallbacks({});
}

/** Started by a schedule: wakes or restarts open payments that are past their deadline. Returns how many. */
export function sweepOverduePayments(): Promise<number> {
  return activities.sweepOverduePayments({});
}

/** Started by a schedule: makes sure that every receipt in suspense has its workflow. Returns how many it looked at. */
export function sweepReceipts(): Promise<number> {
  return activities.sweepReceipts({});
}

/** Started by a schedule: lapses decisions that are too old, and carries out approved ones. Returns how many. */
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

/** Started by a schedule: deletes rows past their retention time. Returns how many. */
export function forgetOldRows(): Promise<number> {
  return activities.forgetOldRows({});
}

/**
 * Started by a schedule: reads the `check_*` views one by one and sets metrics, so that one that takes too long is missed
 * by itself and keeps no other from being read. Returns the names of the non-empty ones. Fails, after all the others were
 * read, with the names of those that could not be.
 */
export async function runLedgerChecks(): Promise<string[]> {
  const violated: string[] = [];
  const unread: string[] = [];
  for (const check of await findLedgerChecks({})) {
    try {
      if ((await runLedgerCheck({ check })) > 0) violated.push(check);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      unread.push(check);
    }
  }
  if (unread.length > 0) {
    throw ApplicationFailure.nonRetryable(`could not be read: ${unread.join(', ')}`, 'CHECKS_UNREAD', violated);
  }
  return violated;
}

/** Started by a schedule: wakes payouts that are due for a look, or whose workflow was lost. Returns how many. */
export function sweepPayouts(): Promise<number> {
  return activities.sweepPayouts({});
}

/** Started by a schedule: starts overdue webhook deliveries. Returns how many. */
export function sweepDeliveries(): Promise<number> {
  return activities.sweepDeliveries({});
}
