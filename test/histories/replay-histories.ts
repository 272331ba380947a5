import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;
const directory = join(import.meta.dirname, 'recorded');

/** The recorded histories; the part of a name before its first dot is the workflow's type. */
export const recordedHistories = readdirSync(directory).filter((name) => name.endsWith('.json.gz'));

export const readHistory = (file: string): string => gunzipSync(readFileSync(join(directory, file))).toString();

/** Replays recorded histories on the workflows of a bundle; returns their number, and the failures by history. */
export async function replayHistories(
  bundle: string,
  files: readonly string[] = recordedHistories,
): Promise<{ replayed: number; broken: string[] }> {
  async function* histories() {
    for (const file of files) yield { workflowId: file, history: History.fromObject(JSON.parse(readHistory(file))) };
  }
  const broken: string[] = [];
  let replayed = 0;
  const options = { workflowBundle: { codePath: bundle } };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories())) {
    replayed += 1;
    if (error) broken.push(`${workflowId}: ${error.message}`);
  }
  return { replayed, broken };
}
