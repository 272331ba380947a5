import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

/** Set by `npm run histories:record`: where the histories of a test run are kept. */
const variable = 'AMANAH_RECORD_HISTORIES';
/** A history that is longer proves no more and weighs too much. */
const largestBytes = 150_000;
const mostPerType = 16;

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

/** Keeps one history of each path of each workflow type that ran on this task queue. */
async function record(client: Client, taskQueue: string, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for await (const { type, workflowId, runId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const plain = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
    const json = `${JSON.stringify(plain, null, 1)}\n`;
    const path = pathOf(plain.events);
    const file = join(directory, `${type}.${path}.json`);
    const known = existsSync(file);
    const ofType = readdirSync(directory).filter((name) => name.startsWith(`${type}.`)).length;
    if (json.length > largestBytes || (!known && ofType >= mostPerType)) continue;
    // Of one path the shortest is kept: it is the quickest to replay and to read.
    if (!known || statSync(file).size > json.length) writeFileSync(file, json);
  }
}

/**
 * While recording, keeps what ran on this task queue; otherwise does nothing, and so on a server that cannot list
 * workflows. In a process of its own, apart from jest's realms.
 */
export function recordHistories(address: string, taskQueue: string): void {
  if (!process.env[variable]) return;
  const { stderr, status } = spawnSync(process.execPath, [import.meta.filename, address, taskQueue], {
    encoding: 'utf8',
  });
  if (status !== 0 && !/UNIMPLEMENTED/i.test(stderr)) throw new Error(`histories could not be recorded: ${stderr}`);
}

/** Makes room for a new recording. */
export const forgetHistories = (directory: string): void => rmSync(directory, { recursive: true, force: true });

if (import.meta.main) {
  const [address = '', taskQueue = ''] = process.argv.slice(2);
  const connection = await Connection.connect({ address });
  await record(new Client({ connection }), taskQueue, process.env[variable] ?? '');
  await connection.close();
}
