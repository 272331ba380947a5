import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;
const directory = join(import.meta.dirname, 'recorded');

/** The recorded histories, each in the directory of the version that recorded it. */
export const recordedHistories = globSync('*/*.json.gz', { cwd: directory }).toSorted();

/** The type of the workflow whose history this is: the part of the name before its first dot. */
export const workflowOf = (file: string): string => basename(file).split('.')[0] ?? '';

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
