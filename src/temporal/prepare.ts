import { type Client, ScheduleAlreadyRunning, type ScheduleHandle, ScheduleOverlapPolicy } from '@temporalio/client';
import { msToNumber } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { budgets } from '../shared/budgets.ts';
import { errorCodeOf } from '../shared/errors.ts';
import { searchAttributeKeys } from './search-attributes.ts';

/** gRPC status codes. */
const alreadyExists = 6;
const unimplemented = 12;

/**
 * Registers the search attributes where the server allows it, one by one: some servers refuse a list in which one is
 * there already. Safe to repeat.
 */
export async function registerSearchAttributes(client: Client, namespace: string, log: Logger): Promise<void> {
  const { connection } = client;
  const { IndexedValueType } = proto.temporal.api.enums.v1;
  for (const { name, type } of Object.values(searchAttributeKeys)) {
    const valueType =
      type === 'INT' ? IndexedValueType.INDEXED_VALUE_TYPE_INT : IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
    try {
      await connection.withDeadline(Date.now() + budgets.reach.temporalPreparation, () =>
        connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [name]: valueType } }),
      );
    } catch (error) {
      if (errorCodeOf(error) !== alreadyExists) {
        log.warn(
          { err: error, searchAttribute: name },
          'the server did not take a search attribute; register it by hand',
        );
      }
    }
  }
}

interface ScheduleEntry {
  scheduleId: string;
  workflowType: string;
  every: '15 seconds' | '1 minute' | '15 minutes' | '1 day';
  /**
   * How late a run may still be made that fell into a time without Temporal. What runs every few seconds or minutes is
   * followed by the next; what runs once a day is made up for.
   */
  catchUp: '1 minute' | '15 minutes' | '1 day';
  /** From midnight UTC. */
  offset?: '19 hours' | '20 hours';
  note: string;
}

/** What is swept, and how often. */
export const schedules: readonly ScheduleEntry[] = [
  {
    scheduleId: 'callback-redelivery',
    workflowType: 'redeliverCallbacks',
    every: '15 seconds',
    catchUp: '1 minute',
    note: 'Hands over callbacks that were stored while Temporal was away',
  },
  {
    scheduleId: 'expiry-sweep',
    workflowType: 'sweepOverduePayments',
    every: '1 minute',
    catchUp: '1 minute',
    note: 'Wakes or restarts payments that are past their deadline and open',
  },
  {
    scheduleId: 'circle-sweep',
    workflowType: 'sweepSavingCircles',
    every: '1 minute',
    catchUp: '1 minute',
    note: 'Wakes or restarts saving circles that should have moved on',
  },
  {
    scheduleId: 'payout-sweep',
    workflowType: 'sweepPayouts',
    every: '1 minute',
    catchUp: '1 minute',
    note: 'Wakes payouts that may be taken back, and restarts those whose workflow was lost',
  },
  {
    scheduleId: 'receipt-sweep',
    workflowType: 'sweepReceipts',
    every: '1 minute',
    catchUp: '1 minute',
    note: 'Restarts the cases of money in suspense whose workflow was lost',
  },
  {
    scheduleId: 'subscription-sweep',
    workflowType: 'sweepSubscriptions',
    every: '15 minutes',
    catchUp: '15 minutes',
    note: 'Wakes or restarts subscriptions whose next payment is late',
  },
  {
    scheduleId: 'reconciliation',
    workflowType: 'reconciliation',
    every: '1 day',
    catchUp: '1 day',
    // Two in the morning of UTC+7.
    offset: '19 hours',
    note: "Compares the books of each day that is over with the provider's",
  },
  {
    scheduleId: 'webhook-redelivery',
    workflowType: 'sweepDeliveries',
    every: '1 minute',
    catchUp: '1 minute',
    note: 'Starts the delivery of webhooks that are overdue',
  },
  {
    scheduleId: 'partner-answers',
    workflowType: 'sweepPartnerAnswers',
    every: '15 minutes',
    catchUp: '15 minutes',
    note: 'Forgets idempotent answers of partners after 30 days',
  },
  {
    scheduleId: 'forgetting',
    workflowType: 'forgetOldRows',
    every: '15 minutes',
    catchUp: '15 minutes',
    note: 'Forgets events of reads after 90 days and idempotency keys of users after 30',
  },
  {
    scheduleId: 'ledger-checks',
    workflowType: 'runLedgerChecks',
    every: '15 minutes',
    catchUp: '15 minutes',
    note: 'Reads the check_* views and raises a metric',
  },
  {
    scheduleId: 'clearing-comparison',
    workflowType: 'compareClearing',
    every: '1 day',
    // Three in the morning of UTC+7, after the reconciliation has woken what was forgotten. A day that is missed is
    // made up for by the next, which compares with the last day that agreed.
    offset: '20 hours',
    catchUp: '1 day',
    note: "Holds gateway clearing against the provider's balance",
  },
];

const grpcCodeOf = (error: unknown): unknown =>
  errorCodeOf(error) ?? (Error.isError(error) ? errorCodeOf(error.cause) : undefined);

/**
 * Makes the schedules that are not there yet, and gives those that are their catch-up window; safe to repeat from several
 * workers at once. Returns how many it made: any means that Temporal did not know us, or not all of us.
 */
export async function ensureSchedules(client: Client, taskQueue: string, log: Logger): Promise<number> {
  let made = 0;
  for (const entry of schedules) {
    try {
      await createSchedule(client, taskQueue, entry);
      made += 1;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) {
        await keepCatchUp(client.schedule.getHandle(`${taskQueue}/${entry.scheduleId}`), entry);
        continue;
      }
      if (grpcCodeOf(error) !== unimplemented) throw error;
      log.warn({ schedule: entry.scheduleId }, 'this server knows no schedules: nothing is swept');
      break;
    }
  }
  return made;
}

async function createSchedule(
  client: Client,
  taskQueue: string,
  { scheduleId, workflowType, every, offset, catchUp, note }: ScheduleEntry,
): Promise<void> {
  await client.schedule.create({
    scheduleId: `${taskQueue}/${scheduleId}`,
    spec: { intervals: [{ every, ...(offset && { offset }) }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUp },
    action: {
      type: 'startWorkflow',
      workflowType,
      workflowId: `${taskQueue}/${scheduleId}`,
      taskQueue,
      args: [],
      staticSummary: note,
    },
  });
}

/** One that an earlier release made keeps everything but its catch-up window. */
async function keepCatchUp(handle: ScheduleHandle, { catchUp }: ScheduleEntry): Promise<void> {
  const { policies } = await handle.describe();
  if (policies.catchupWindow === msToNumber(catchUp)) return;
  await handle.update(({ spec, action, policies: { overlap }, state }) => ({
    spec,
    action,
    state,
    policies: { overlap, catchupWindow: catchUp },
  }));
}
