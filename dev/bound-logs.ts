import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const maximumLogBytes = 20 * 1024 * 1024;

/** Moves a log above the maximum size to its one older file; the writers append, so they can keep writing. */
export function boundLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((entry) => entry.endsWith('.log'))) {
    const file = join(directory, name);
    if (statSync(file).size <= maximumLogBytes) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
