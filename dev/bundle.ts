import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloadModules, workflowInterceptorModules, workflowsPath } from '../src/wiring/worker/workflow-modules.ts';
import { cacheDirectory, type Part, type PartPlace, readPartOptions, startPart } from './part.ts';

const root = join(import.meta.dirname, '..');
const keptBundles = 4;
/** A running stack restarts its worker with the bundle it started with, so old bundles are kept this long. */
const keptMs = 24 * 60 * 60 * 1000;
const readyWithinMs = 180_000;

/** The file for a bundle of the current workflows; its name is a digest of the sources. */
export function workflowBundleFile(): string {
  const hash = createHash('sha256');
  const sources = globSync(['workflows/**/*.ts', 'src/**/*.ts', 'package-lock.json'], { cwd: root }).sort();
  for (const source of sources)
    hash
      .update(source)
      .update('\0')
      .update(readFileSync(join(root, source)))
      .update('\0');
  return join(cacheDirectory, `workflows-${hash.digest('hex').slice(0, 16)}.js`);
}

/** Builds the workflow bundle if the sources have changed; returns its path. */
export async function ensureWorkflowBundle(part: PartPlace): Promise<string> {
  const file = workflowBundleFile();
  if (statSync(file, { throwIfNoEntry: false })) return file;
  const builder: Part = await startPart({
    ...part,
    name: 'The workflow bundle',
    script: import.meta.filename,
    env: process.env,
    options: { file },
    readyWithinMs,
  });
  await builder.exited;
  return file;
}

/** Bundles in its own process, so that the event loop is not blocked. */
async function run(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  const { file } = readPartOptions() as { file: string };
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules,
    preloadModules,
  });
  mkdirSync(cacheDirectory, { recursive: true });
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  removeOldBundles();
  process.send?.('ready', () => process.exit(0));
}

function removeOldBundles(): void {
  const bundles = readdirSync(cacheDirectory).filter((name) => name.startsWith('workflows-'));
  const newestFirst = bundles
    .map((name) => ({ path: join(cacheDirectory, name), at: statSync(join(cacheDirectory, name)).mtimeMs }))
    .toSorted((left, right) => right.at - left.at);
  const before = Date.now() - keptMs;
  for (const { path } of newestFirst.slice(keptBundles).filter(({ at }) => at < before)) rmSync(path, { force: true });
}

if (import.meta.main) await run();
