import { rmSync } from 'node:fs';
import { openDatabase } from '../../src/database/database.ts';
import { runChecks } from '../../src/ledger/run-checks.ts';
import { sharedDatabases, stopSharedStacks } from './shared-stacks.ts';

/**
 * Reads the books of the shared stacks as a whole, stops what global-setup.ts started and removes the scratch of the run.
 * Throws, which fails the run, when a `check_*` view is not empty.
 */
export default async function globalTeardown(): Promise<void> {
  const run = globalThis.testRunParts;
  if (!run) return;
  process.off('disconnect', run.onAbandoned);
  try {
    await stopSharedStacks();
    for (const url of sharedDatabases(run.directory)) await readBooks(url);
  } finally {
    await Promise.all(run.parts.map((part) => part.stop(5_000)));
    rmSync(run.directory, { recursive: true, force: true });
  }
}

async function readBooks(url: string): Promise<void> {
  const orm = await openDatabase({ url, poolSize: 2, connectWithinMs: 30_000 });
  try {
    const broken = (await runChecks(orm.em.fork())).filter(({ violations }) => violations > 0);
    if (broken.length > 0) throw new Error(`the books of a shared stack are not in order: ${JSON.stringify(broken)}`);
  } finally {
    await orm.close(true);
  }
}
