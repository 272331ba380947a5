import { describeStack } from './credentials.ts';
import { whenNpmEnds } from './launcher.ts';
import { lockDataDirectory } from './lock.ts';
import { createProgress } from './progress.ts';
import { readSettings } from './settings.ts';
import { Stack } from './stack.ts';
import { StackError } from './stack-error.ts';
import { asksForUsage, describeUsage } from './start-usage.ts';

/** One Ctrl-C reaches us twice, from the terminal and through npm: only a second one after this time exits at once. */
const sameRequestMs = 1_500;

const write = (text: string): void => void process.stdout.write(text);
/** The stack keeps running when its output is closed. */
process.stdout.on('error', () => undefined);

async function main(): Promise<number> {
  if (asksForUsage(process.argv.slice(2))) {
    write(describeUsage());
    return 0;
  }
  const startedAt = performance.now();
  const settings = readSettings(process.env);
  using _lock = lockDataDirectory(settings.DATA_DIR);
  const stopping = new AbortController();
  const stopAsked = askedToStop(stopping);
  const progress = createProgress(write);
  const stack = new Stack({ settings, env: process.env, progress, signal: stopping.signal });
  write(`Amanah starts; its data is in ${settings.DATA_DIR}.\n`);
  try {
    const credentials = await stack.start();
    write(describeStack(credentials, settings.DATA_DIR, (performance.now() - startedAt) / 1000));
    await stopAsked;
  } catch (error) {
    if (!stopping.signal.aborted) {
      stopping.abort();
      await stack.stop();
      throw error;
    }
  }
  write(`\n${await stopAsked}: stopping.\n`);
  await stack.stop();
  write('Everything has stopped; the data is kept.\n');
  return 0;
}

/** The reason to stop: a signal, or the exit of the parent process. A second, later request exits at once. */
function askedToStop(stopping: AbortController): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let askedAt = 0;
  const stop = (reason: string) => {
    if (stopping.signal.aborted) {
      if (Date.now() - askedAt > sameRequestMs) process.exit(130);
      return;
    }
    askedAt = Date.now();
    stopping.abort();
    resolve(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  whenNpmEnds(() => stop('npm exited'));
  if (process.channel) process.once('disconnect', () => stop('the parent process exited'));
  return promise;
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(
    `${error instanceof StackError ? error.message : String(Error.isError(error) ? error.stack : error)}\n`,
  );
  process.exit(1);
}
