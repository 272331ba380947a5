import { setTimeout as delay } from 'node:timers/promises';
import { budgets } from '../../shared/budgets.ts';
import type { Logger } from './log.ts';

/** How long a process waits for its dependencies before it gives up. */
const startTimeoutMs = budgets.start.whole;
const retryMs = 500;

/** Waits until every part answers, for at most a minute; then throws, naming the parts that did not. */
export async function waitForParts(parts: Record<string, () => Promise<void>>, log: Logger): Promise<void> {
  const endsAt = performance.now() + startTimeoutMs;
  let missing = Object.keys(parts);
  for (let round = 0; missing.length > 0; round += 1) {
    const states = await Promise.allSettled(missing.map((name) => parts[name]?.()));
    missing = missing.filter((_, index) => states[index]?.status === 'rejected');
    if (missing.length === 0) return;
    if (performance.now() > endsAt) throw new Error(`could not reach ${missing.join(', ')} within a minute`);
    if (round % 10 === 0) log.info({ missing }, 'waiting for dependencies');
    await delay(retryMs);
  }
}

/**
 * Resolves when the process is asked to stop: by SIGTERM, SIGINT or the exit of the parent that started it, or when
 * `own` resolves. Resolves to the reason.
 */
export function stopSignal(own?: Promise<string>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = (reason: string) => {
    resolve(reason);
    endLater();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal));
  if (process.channel) process.once('disconnect', () => stop('disconnect'));
  else if (process.send) stop('disconnect');
  void own?.then(stop);
  return promise;
}

/** Makes `/readyz` answer 503, so that the load balancer stops sending requests. */
export function endReadiness(readiness: Record<string, () => Promise<void>>): void {
  readiness.serving = () => Promise.reject(new Error('this process is shutting down'));
}

/** Notifies the parent process, if there is one, that this process is serving. */
export function announceReady(): void {
  if (process.connected) process.send?.('ready');
}

/** A process whose parent has exited, or that was asked to stop, exits after this time at the latest. */
const endLater = (): void => void setTimeout(() => process.exit(1), budgets.shutdown.process).unref();

/**
 * Runs a main function; an error that it does not handle is printed, a ConfigError as one sentence, with exit code 1.
 */
export async function runMain(main: () => Promise<void>): Promise<never> {
  // Applies also during start-up, before anything handles a stop signal.
  if (process.channel) process.once('disconnect', endLater);
  try {
    await main();
    process.exit(0);
  } catch (error) {
    const told = Error.isError(error) && error.name === 'ConfigError' ? error.message : error;
    process.stderr.write(
      `${typeof told === 'string' ? told : String(Error.isError(told) ? (told.stack ?? told.message) : told)}\n`,
    );
    process.exit(1);
  }
}
