import { rmSync } from 'node:fs';

/** Stops what global-setup.ts started and removes the scratch of the run. */
export default async function globalTeardown(): Promise<void> {
  const run = globalThis.testRunParts;
  if (!run) return;
  process.off('disconnect', run.onAbandoned);
  await Promise.all(run.parts.map((part) => part.stop(5_000)));
  rmSync(run.directory, { recursive: true, force: true });
}
