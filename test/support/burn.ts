import { Worker } from 'node:worker_threads';
import { isFullRun } from './run.ts';

const threads = 5;

/** Runs a test; in the full run, while five threads keep the CPU busy, so that everything is slow. */
export async function whileBurning<T>(run: () => Promise<T>): Promise<T> {
  const burning = isFullRun() ? Array.from({ length: threads }, () => new Worker('for (;;);', { eval: true })) : [];
  try {
    return await run();
  } finally {
    await Promise.all(burning.map((thread) => thread.terminate()));
  }
}
