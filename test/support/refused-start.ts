import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createSecrets, testEnvironment } from './environment.ts';
import { testRun } from './run.ts';

/** Starts a process that refuses its database; returns what it printed, and its exit code. */
export async function startInVain(name: string, databaseUrl: string): Promise<{ said: string; code: unknown }> {
  const addresses = {
    databaseUrl,
    temporalAddress: testRun().temporal.address,
    url: 'http://127.0.0.1:0',
    sandboxUrl: 'http://127.0.0.1:1',
  };
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', '..', 'src', `${name}.ts`)], {
    env: { ...testEnvironment(addresses, createSecrets()), PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { said, code };
}
