import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  certificateFiles,
  complaintsAbout,
  type TemporalEnvironment,
} from '../../platform/config/connection-options.ts';
import type { Logger } from '../../platform/process/log.ts';

interface Watching {
  log: Logger;
  /** How often the files are read, in milliseconds. */
  everyMs?: number;
  /** Processes that see the same renewal exit at random times within this many milliseconds. */
  spreadMs?: number;
}

const minuteMs = 60_000;

/**
 * Resolves, with the reason, when the certificates this process uses for Temporal were renewed. A connection keeps the
 * certificates with which it was opened, so the process exits and its supervisor restarts it with the new ones. Invalid
 * certificates are logged and ignored. Never resolves when none are configured.
 */
export async function certificatesRenewed(
  env: TemporalEnvironment,
  { log, everyMs = minuteMs, spreadMs = 5 * minuteMs }: Watching,
): Promise<string> {
  if (certificateFiles.every((name) => env[name] === undefined)) return new Promise(() => undefined);
  const first = digestOf(env);
  while (digestOf(env) === first || !isUsable(env, log)) await delay(everyMs, undefined, { ref: false });
  log.info('the certificates for Temporal were renewed: this process will exit, to be restarted with them');
  await delay(Math.random() * spreadMs, undefined, { ref: false });
  return 'the certificates for Temporal were renewed';
}

function isUsable(env: TemporalEnvironment, log: Logger): boolean {
  const complaints = complaintsAbout(env);
  if (complaints.length > 0) log.error({ complaints }, 'the certificates for Temporal have changed and cannot be used');
  return complaints.length === 0;
}

function digestOf(env: TemporalEnvironment): string {
  const hash = createHash('sha256');
  for (const name of certificateFiles) {
    const file = env[name];
    try {
      hash.update(file === undefined ? 'none' : readFileSync(file)).update('\0');
    } catch {
      hash.update('unreadable\0');
    }
  }
  return hash.digest('hex');
}
