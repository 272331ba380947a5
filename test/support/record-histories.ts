import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { must } from '../../src/shared/assert.ts';
import { workflowIds } from '../../src/shared/workflow-ids.ts';

/** Set by `npm run histories:record`: the directory for the histories of a test run. */
const variable = 'AMANAH_RECORD_HISTORIES';
export const isRecording = (): boolean => Boolean(process.env[variable]);
/** Longer histories prove no more, and are too large even compressed. */
const largestBytes = 50_000;

const { History } = proto.temporal.api.history.v1;

interface Event {
  eventType: string;
  workflowExecutionCompletedEventAttributes?: { result?: { payloads?: { data?: string }[] } };
  [attributes: string]: unknown;
}

/** The kinds of events in a history. */
function kindsOf(events: readonly Event[]): Set<string> {
  const names = events.map((event) => {
    const text = JSON.stringify(event);
    const [, name = ''] = /"(?:activityType|signalName|name)":\s*(?:\{"name":)?\s*"([^"]+)"/.exec(text) ?? [];
    return `${event.eventType.replace('EVENT_TYPE_', '')}:${name}`;
  });
  return new Set(names);
}

/** The outcome of a run, by the status in its result; null for an outcome that only tests cause. */
function endOf(last: Event): string | null {
  switch (last.eventType.replace('EVENT_TYPE_WORKFLOW_EXECUTION_', '')) {
    case 'COMPLETED': {
      const [payload] = last.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
      const result = JSON.parse(Buffer.from(payload?.data ?? '', 'base64').toString() || 'null');
      return typeof result === 'string' ? result.toLowerCase() : 'done';
    }
    case 'FAILED':
      return 'error';
    case 'CONTINUED_AS_NEW':
      return 'continued';
    case 'TERMINATED':
    case 'TIMED_OUT':
    case 'CANCELED':
      return null;
    default:
      return 'open';
  }
}

/** The story of a history: its outcome, and whether people decided that or unmatched money arrived. */
function storyOf(events: readonly Event[], kinds: ReadonlySet<string>): string | null {
  const end = events.length === 0 ? null : endOf(must(events.at(-1), 'the history has events'));
  if (end === null) return null;
  const has = (pattern: RegExp) => end !== 'open' && [...kinds].some((kind) => pattern.test(kind));
  const marks = [
    ...(has(/^WORKFLOW_EXECUTION_UPDATE_ACCEPTED:settle/) ? ['decided'] : []),
    ...(has(/^START_CHILD_WORKFLOW_EXECUTION_INITIATED:unmatchedReceipt/) ? ['stray'] : []),
  ];
  return [end, ...marks].join('.');
}

/** Tables whose rows name workflows: the time-skipping server cannot list workflows. */
const tables: Record<string, (id: string) => string> = {
  payment_orders: workflowIds.gatewayPayment,
  partner_payments: workflowIds.partnerPayment,
  payouts: workflowIds.partnerPayout,
  webhook_deliveries: workflowIds.webhookDelivery,
  receipts: workflowIds.unmatchedReceipt,
  saving_circles: workflowIds.savingCircle,
  donation_subscriptions: workflowIds.donationSubscription,
};
/** How many rows of a table have their workflows recorded. */
const mostRows = 50;

async function namesOf(em: EntityManager): Promise<string[]> {
  const names: string[] = [];
  for (const [table, nameOf] of Object.entries(tables)) {
    const rows = await em.execute<{ id: string }[]>(`select id from ${table} order by id limit ${mostRows}`);
    names.push(...rows.map(({ id }) => nameOf(id)));
  }
  return names;
}

/** The runs on a task queue, as the server lists them. */
async function* listRuns(client: Client, taskQueue: string): AsyncGenerator<[workflowId: string, runId: string]> {
  for await (const { workflowId, runId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    yield [workflowId, runId];
  }
}

/** The runs of these workflows: of each, the last run and those that it continues, back to the first. */
async function* findRuns(client: Client, names: string[]): AsyncGenerator<[workflowId: string, runId: string]> {
  for (const workflowId of names) {
    const last = await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => null);
    for (let runId = last?.runId; runId; ) {
      yield [workflowId, runId];
      const [first] = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
      runId = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    }
  }
}

async function record(
  client: Client,
  runs: AsyncIterable<[workflowId: string, runId: string]>,
  directory: string,
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for await (const [workflowId, runId] of runs) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // Before the first completed task there is nothing to replay.
    if (!history.events?.some(({ workflowTaskCompletedEventAttributes: ended }) => ended)) continue;
    const type = history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
    const { events } = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
    keep(directory, `${type}`, events);
  }
}

/**
 * Stores one history for each story of each workflow: the one with the most kinds of events, and of these the shortest.
 * Open runs are stored only for a workflow without a closed run.
 */
export function keep(directory: string, type: string, events: Event[]): void {
  const kinds = kindsOf(events);
  const story = storyOf(events, kinds);
  const packed = gzipSync(JSON.stringify({ events }));
  if (story === null || packed.length > largestBytes) return;
  const known = readdirSync(directory).filter((name) => name.startsWith(`${type}.`));
  const open = `${type}.open.json.gz`;
  if (story === 'open' && known.some((name) => name !== open)) return;
  if (story !== 'open') rmSync(join(directory, open), { force: true });
  const file = join(directory, `${type}.${story}.json.gz`);
  if (existsSync(file)) {
    const kept: Event[] = JSON.parse(gunzipSync(readFileSync(file)).toString()).events;
    const more = kinds.size - kindsOf(kept).size;
    if (more < 0 || (more === 0 && events.length >= kept.length)) return;
  }
  writeFileSync(file, packed);
}

/**
 * While recording, stores the runs on this task queue or, on a server that cannot list workflows, those of the rows;
 * otherwise does nothing. Runs in a separate process.
 */
export async function recordHistories(em: EntityManager, address: string, taskQueue: string): Promise<void> {
  if (!isRecording()) return;
  const { stderr, status } = spawnSync(process.execPath, [import.meta.filename, address, taskQueue], {
    encoding: 'utf8',
    input: JSON.stringify(await namesOf(em)),
  });
  if (status !== 0) throw new Error(`histories could not be recorded: ${stderr}`);
}

if (import.meta.main) {
  const [address = '', taskQueue = ''] = process.argv.slice(2);
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const directory = process.env[variable] ?? '';
  try {
    await record(client, listRuns(client, taskQueue), directory);
  } catch (error) {
    if (!/UNIMPLEMENTED/i.test(String(error) + String(error instanceof Error ? error.cause : ''))) throw error;
    const names: string[] = JSON.parse(readFileSync(0, 'utf8'));
    await record(client, findRuns(client, [...names, `${taskQueue}/clearing-comparison`]), directory);
  }
  await connection.close();
}
