import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
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
      await connection.withDeadline(Date.now() + 10_000, () =>
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
  /** From midnight UTC. */
  offset?: '19 hours' | '20 hours';
  note: string;
}

/** What is swept, and how often (decisions 9). */
export const schedules: readonly ScheduleEntry[] = [
  {
    scheduleId: 'callback-redelivery',
    workflowType: 'redeliverCallbacks',
    every: '15 seconds',
    note: 'Hands over callbacks that were stored while Temporal was away',
  },
  {
    scheduleId: 'expiry-sweep',
    workflowType: 'sweepOverduePayments',
    every: '1 minute',
    note: 'Wakes or restarts payments that are past their deadline and open',
  },
  {
    scheduleId: 'circle-sweep',
    workflowType: 'sweepSavingCircles',
    every: '1 minute',
    note: 'Wakes or restarts saving circles that should have moved on',
  },
  {
    scheduleId: 'payout-sweep',
    workflowType: 'sweepPayouts',
    every: '1 minute',
    note: 'Wakes payouts that may be taken back, and restarts those whose workflow was lost',
  },
  {
    scheduleId: 'reconciliation',
    workflowType: 'reconciliation',
    every: '1 day',
    // Two in the morning of UTC+7.
    offset: '19 hours',
    note: "Compares yesterday's books with the provider's",
  },
  {
    scheduleId: 'webhook-redelivery',
    workflowType: 'sweepDeliveries',
    every: '1 minute',
    note: 'Starts the delivery of webhooks that are overdue',
  },
  {
    scheduleId: 'partner-answers',
    workflowType: 'sweepPartnerAnswers',
    every: '15 minutes',
    note: 'Forgets idempotent answers of partners after 30 days',
  },
  {
    scheduleId: 'forgetting',
    workflowType: 'forgetOldRows',
    every: '15 minutes',
    note: 'Forgets events of reads after 90 days and idempotency keys of users after 30',
  },
  {
    scheduleId: 'ledger-checks',
    workflowType: 'runLedgerChecks',
    every: '15 minutes',
    note: 'Reads the check_* views and raises a metric',
  },
  {
    scheduleId: 'clearing-comparison',
    workflowType: 'compareClearing',
    every: '1 day',
    // Three in the morning of UTC+7, after the reconciliation has woken what was forgotten. A day that is missed is
    // made up for by the next, which compares with the last day that agreed.
    offset: '20 hours',
    note: "Holds gateway clearing against the provider's balance",
  },
];

const grpcCodeOf = (error: unknown): unknown =>
  errorCodeOf(error) ?? (Error.isError(error) ? errorCodeOf(error.cause) : undefined);

/** Makes the schedules that are not there yet; safe to repeat from several workers at once. */
export async function ensureSchedules(client: Client, taskQueue: string, log: Logger): Promise<void> {
  for (const { scheduleId, workflowType, every, offset, note } of schedules) {
    try {
      await client.schedule.create({
        scheduleId: `${taskQueue}/${scheduleId}`,
        spec: { intervals: [{ every, ...(offset && { offset }) }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
        action: {
          type: 'startWorkflow',
          workflowType,
          workflowId: `${taskQueue}/${scheduleId}`,
          taskQueue,
          args: [],
          staticSummary: note,
        },
      });
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) continue;
      if (grpcCodeOf(error) !== unimplemented) throw error;
      log.warn({ schedule: scheduleId }, 'this server knows no schedules: nothing is swept');
      return;
    }
  }
}
