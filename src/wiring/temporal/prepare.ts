import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { Lacking } from '../../platform/http/probes.ts';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { searchAttributeKeys } from './search-attributes.ts';

/** gRPC status codes. */
const alreadyExists = 6;
const unimplemented = 12;

/**
 * Registers the search attributes where the server allows it, one by one: some servers refuse a list that contains an
 * existing one. Safe to repeat. Returns those that the server lacks afterwards, each with its type; none where the server
 * does not list them.
 */
export async function registerSearchAttributes({ connection }: Client, namespace: string): Promise<string[]> {
  const { INDEXED_VALUE_TYPE_INT: int, INDEXED_VALUE_TYPE_KEYWORD: keyword } =
    proto.temporal.api.enums.v1.IndexedValueType;
  const inTime = <T>(call: () => Promise<T>) =>
    connection.withDeadline(Date.now() + budgets.reach.temporalPreparation, call);
  const refused: { name: string; valueType: number }[] = [];
  for (const { name, type } of Object.values(searchAttributeKeys)) {
    const valueType = type === 'INT' ? int : keyword;
    try {
      await inTime(() =>
        connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [name]: valueType } }),
      );
    } catch (error) {
      if (errorCodeOf(error) !== alreadyExists) refused.push({ name, valueType });
    }
  }
  if (refused.length === 0) return [];
  const listed = await inTime(() => connection.operatorService.listSearchAttributes({ namespace })).catch(() => null);
  return refused
    .filter(({ name, valueType }) => listed !== null && listed.customAttributes[name] !== valueType)
    .map(({ name, valueType }) => `${name} (${valueType === int ? 'Int' : 'Keyword'})`);
}

interface ScheduleEntry {
  scheduleId: string;
  workflowType: string;
  every: '15 seconds' | '1 minute' | '15 minutes' | '1 day';
  /** From midnight UTC. */
  offset?: '18 hours' | '19 hours' | '20 hours';
  note: string;
}

/**
 * How late a missed run may still start after an outage of Temporal. Schedules of seconds or minutes just continue with
 * their next run; a missed daily run is caught up.
 */
const catchUpOf = ({ every }: ScheduleEntry) => (every === '15 seconds' ? '1 minute' : every);

/** The scheduled workflows and their intervals. */
export const schedules: readonly ScheduleEntry[] = [
  {
    scheduleId: 'callback-redelivery',
    workflowType: 'redeliverCallbacks',
    every: '15 seconds',
    note: 'Delivers callbacks that were stored while Temporal was down',
  },
  {
    scheduleId: 'sweep',
    workflowType: 'sweep',
    every: '1 minute',
    note: 'Wakes or restarts overdue work: payments, payouts, receipts, decisions, circles, subscriptions, webhooks',
  },
  {
    scheduleId: 'reconciliation',
    workflowType: 'reconciliation',
    every: '1 day',
    // 02:00 in UTC+7.
    offset: '19 hours',
    note: "Compares the books of each past day with the provider's",
  },
  {
    scheduleId: 'forgetting',
    workflowType: 'forgetOldRows',
    every: '15 minutes',
    note: 'Deletes read events after 90 days, and responses under idempotency keys and expired invitations after 30',
  },
  {
    scheduleId: 'ledger-checks',
    workflowType: 'runLedgerChecks',
    every: '15 minutes',
    note: 'Reads the check_* views, in full each night, and sets a metric',
  },
  {
    scheduleId: 'journal-seals',
    workflowType: 'sealJournals',
    every: '1 day',
    // 01:00 in UTC+7, when the accounting day is over.
    offset: '18 hours',
    note: 'Seals every unsealed journal',
  },
  {
    scheduleId: 'clearing-comparison',
    workflowType: 'compareClearing',
    every: '1 day',
    // 03:00 in UTC+7, after the reconciliation has woken forgotten rows. A run covers missed days too, as it compares
    // with the last day that agreed.
    offset: '20 hours',
    note: "Compares gateway clearing with the provider's balance",
  },
];

const grpcCodeOf = (error: unknown): unknown =>
  errorCodeOf(error) ?? (Error.isError(error) ? errorCodeOf(error.cause) : undefined);

interface Preparation {
  client: Client;
  namespace: string;
  taskQueue: string;
  log: Logger;
  /** Called when Temporal has lost our state: everything recently woken there must be woken again. */
  beginAnew(): Promise<void>;
}

/** How often a worker checks that Temporal still has its registrations, which it may lose while workers run. */
const preparesEveryMs = 60_000;
/** How long a worker waits for the preparation before it starts polling. */
const firstWaitMs = 15_000;

/**
 * Registers our search attributes and schedules with Temporal, now and every minute (`everyMs`) until it is disposed
 * of. A failure is logged and retried the next time; it never stops the process. Resolves after the first time, at most
 * 15 seconds later. `ready` rejects while the server lacks search attributes, naming them.
 */
export async function keepPrepared(
  preparation: Preparation,
  everyMs = preparesEveryMs,
): Promise<AsyncDisposable & { ready(): Promise<void> }> {
  const { client, log } = preparation;
  const ending = new AbortController();
  const { signal } = ending;
  let missing: string[] = [];
  const prepare = () =>
    client
      .withAbortSignal(signal, async () => {
        const found = await registerSearchAttributes(client, preparation.namespace);
        const lacking = found.join(', ');
        if (lacking !== '' && lacking !== missing.join(', '))
          log.error({ lacking }, 'register these search attributes');
        missing = found;
        await ensureSchedules(preparation);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'could not prepare Temporal; will retry soon');
      });
  const first = prepare();
  const keeping = (async () => {
    await first;
    while (await delay(everyMs, true, { signal }).catch(() => false)) await prepare();
  })();
  await Promise.race([first, delay(firstWaitMs, undefined, { signal, ref: false }).catch(() => undefined)]);
  return {
    async ready() {
      if (missing.length > 0) throw new Lacking(`missing: ${missing.join(', ')}`);
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await keeping;
    },
  };
}

/**
 * Creates the missing schedules; safe to repeat from several workers at once. Logs a schedule that it cannot create and
 * continues with the rest. The last schedule is created only after `beginAnew`, so its existence proves that
 * `beginAnew` succeeded. Returns how many it created.
 */
export async function ensureSchedules({
  client,
  taskQueue,
  log,
  beginAnew,
}: Pick<Preparation, 'client' | 'taskQueue' | 'log' | 'beginAnew'>): Promise<number> {
  let made = 0;
  for (const entry of schedules) {
    const handle = client.schedule.getHandle(`${taskQueue}/${entry.scheduleId}`);
    // Each call has its own deadline; restarting work between them may take a minute.
    const inTime = <T>(call: () => Promise<T>) =>
      client.withDeadline(Date.now() + budgets.reach.temporalPreparation, call);
    try {
      if (await inTime(() => isThere(handle))) continue;
      if (entry === schedules.at(-1)) await beginAnew();
      await inTime(() => createSchedule(client, taskQueue, entry));
      made += 1;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) continue;
      if (grpcCodeOf(error) === unimplemented) {
        log.warn({ schedule: entry.scheduleId }, 'this server does not support schedules: no sweeps will run');
        break;
      }
      log.warn({ err: error, schedule: entry.scheduleId }, 'could not create a schedule; will retry soon');
    }
  }
  return made;
}

async function createSchedule(client: Client, taskQueue: string, entry: ScheduleEntry): Promise<void> {
  const { scheduleId, workflowType, every, offset, note } = entry;
  await client.schedule.create({
    scheduleId: `${taskQueue}/${scheduleId}`,
    spec: { intervals: [{ every, ...(offset && { offset }) }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpOf(entry) },
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

/** Whether a schedule exists. */
async function isThere(handle: ScheduleHandle): Promise<boolean> {
  try {
    await handle.describe();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}
