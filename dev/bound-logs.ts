import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const maximumLogBytes = 20 * 1024 * 1024;

/** Keeps each log and one older part of it within the maximum; the writers append, so they write on. */
export function boundLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((entry) => entry.endsWith('.log'))) {
    const file = join(directory, name);
    if (statSync(file).size <= maximumLogBytes) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
