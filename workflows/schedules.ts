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

const sweeps = {
  payments: activities.sweepOverduePayments,
  payouts: activities.sweepPayouts,
  receipts: activities.sweepReceipts,
  decisions: activities.sweepDecisions,
  circles: activities.sweepSavingCircles,
  subscriptions: activities.sweepSubscriptions,
  webhooks: activities.sweepDeliveries,
};

/**
 * Started by a schedule: wakes or restarts overdue workflows, all kinds concurrently. Returns how many of each. Once
 * all are done, fails with the names of those that failed.
 */
export async function sweep(): Promise<Record<string, number>> {
  const failed: string[] = [];
  const counts: Record<string, number> = {};
  const one = async ([name, run]: [string, (input: object) => Promise<number>]) => {
    try {
      counts[name] = await run({});
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      failed.push(name);
    }
  };
  await Promise.all(Object.entries(sweeps).map(one));
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(`failed: ${failed.join(', ')}`, 'SWEEPS_FAILED', counts);
  return counts;
}

/** Started by a schedule: deletes rows past their retention time. Returns how many. */
export function forgetOldRows(): Promise<number> {
  return activities.forgetOldRows({});
}

/**
 * Started by a schedule: reads the `check_*` views one by one and sets metrics, so that a slow view fails alone.
 * Returns the names of the non-empty views. After reading all, fails with the names of those that could not be read.
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
