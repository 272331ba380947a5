import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { workflowIds } from '../../src/shared/workflow-ids.ts';

/** Set by `npm run histories:record`: where the histories of a test run are kept. */
const variable = 'AMANAH_RECORD_HISTORIES';
export const isRecording = (): boolean => Boolean(process.env[variable]);
/** A history that is longer, compressed, proves no more and weighs too much. */
const largestBytes = 50_000;
const mostPerType = 96;

const { History } = proto.temporal.api.history.v1;

interface Event {
  eventType: string;
  [attributes: string]: unknown;
}

/** What a history went through, as the set of its kinds of events: two runs of one path are recorded once. */
function pathOf(events: readonly Event[]): string {
  const names = events.map((event) => {
    const text = JSON.stringify(event);
    const [, name = ''] = /"(?:activityType|signalName|name)":\s*(?:\{"name":)?\s*"([^"]+)"/.exec(text) ?? [];
    return `${event.eventType}:${name}`;
  });
  return createHash('sha256')
    .update([...new Set(names)].sort().join('\n'))
    .digest('hex')
    .slice(0, 8);
}

/** Where the time-skipping server, which lists nothing, is asked for its workflows by name. */
const tables: Record<string, (id: string) => string> = {
  payment_orders: workflowIds.gatewayPayment,
  partner_payments: workflowIds.partnerPayment,
  payouts: workflowIds.partnerPayout,
  webhook_deliveries: workflowIds.webhookDelivery,
  receipts: workflowIds.unmatchedReceipt,
  saving_circles: workflowIds.savingCircle,
  donation_subscriptions: workflowIds.donationSubscription,
};
/** Rows of a table that are looked at. */
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

/** The runs of these workflows, each from the last back to the first that it continues. */
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

/** Keeps one history of each path of each workflow type. */
async function record(
  client: Client,
  runs: AsyncIterable<[workflowId: string, runId: string]>,
  directory: string,
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for await (const [workflowId, runId] of runs) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const type = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
    const plain = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
    // Before a first task has ended there is nothing to replay.
    if (!history.events?.some(({ workflowTaskCompletedEventAttributes: ended }) => ended)) continue;
    const packed = gzipSync(JSON.stringify(plain));
    const path = pathOf(plain.events);
    const file = join(directory, `${type}.${path}.json.gz`);
    const known = existsSync(file);
    const ofType = readdirSync(directory).filter((name) => name.startsWith(`${type}.`)).length;
    if (packed.length > largestBytes || (!known && ofType >= mostPerType)) continue;
    // Of one path the shortest is kept: it is the quickest to replay and to read.
    if (!known || statSync(file).size > packed.length) writeFileSync(file, packed);
  }
}

/**
 * While recording, keeps what ran on this task queue, or of these rows on a server that cannot list workflows;
 * otherwise does nothing. In a process of its own, apart from jest's realms.
 */
export async function recordHistories(em: EntityManager, address: string, taskQueue: string): Promise<void> {
  if (!isRecording()) return;
  const { stderr, status } = spawnSync(process.execPath, [import.meta.filename, address, taskQueue], {
    encoding: 'utf8',
    input: JSON.stringify(await namesOf(em)),
  });
  if (status !== 0) throw new Error(`histories could not be recorded: ${stderr}`);
}

/** Makes room for a new recording. */
export const forgetHistories = (directory: string): void => rmSync(directory, { recursive: true, force: true });

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
