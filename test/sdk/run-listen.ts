import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

const command = join(import.meta.dirname, '..', '..', 'sdk', 'listen.ts');

/** The command `amanah-listen` as a person runs it against an API, and its output. */
export function runListen(args: string[], api: { url: string; apiKey: string; signingSecret: string }) {
  const keys = { AMANAH_API_KEY: api.apiKey, AMANAH_SIGNING_SECRET: api.signingSecret };
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env.PATH, AMANAH_API_URL: api.url, ...keys },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (printed += String(bytes)));
  const ended = once(child, 'close').then(([code]) => code);
  return {
    /** Its exit code. */
    ended,
    printed: () => printed,
    says: (text: string) =>
      eventually(
        async () => printed,
        (all) => all.includes(text),
      ),
    async stop(): Promise<void> {
      child.kill();
      await ended;
    },
  };
}
