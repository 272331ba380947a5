import { appendFileSync, rmSync } from 'node:fs';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { brokenChecks } from './broken-checks.ts';
import { sharedDatabases, stopSharedStacks } from './shared-stacks.ts';

/**
 * Checks the books of the shared stacks as a whole, stops what global-setup.ts started and removes the run's scratch
 * directory. If a `check_*` view is not empty, the run fails: under test/run.ts by a complaint in a file, so that the
 * test report is still written, otherwise by throwing.
 */
export default async function globalTeardown(): Promise<void> {
  const run = globalThis.testRunParts;
  if (!run) return;
  process.off('disconnect', run.onAbandoned);
  try {
    await stopSharedStacks();
    await Promise.all(sharedDatabases(run.directory).map(readBooks));
  } finally {
    await Promise.all(run.parts.map((part) => part.stop(5_000)));
    rmSync(run.directory, { recursive: true, force: true });
  }
}

async function readBooks(url: string): Promise<void> {
  const orm = await openDatabase({ url, poolSize: 1, connectWithinMs: 60_000 });
  try {
    const broken = await brokenChecks(orm.em.fork());
    if (broken.length === 0) return;
    const complaint = `the books of a shared stack do not balance: ${JSON.stringify(broken)}`;
    if (process.env.AMANAH_COMPLAINT === undefined) throw new Error(complaint);
    appendFileSync(process.env.AMANAH_COMPLAINT, `${complaint}\n`);
  } finally {
    await orm.close(true);
  }
}
