import { budgets } from '../../shared/budgets.ts';
import type { PoolClient } from './lost-connections.ts';

interface Probe {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}

/** The part of a `pg` pool that opens connections. */
export interface ServerPool {
  readonly Client: new (options: unknown) => Probe;
  readonly options: unknown;
}

/** Watches a client's running statement; returns the function that stops watching. */
export type WatchStatement = (client: Pick<PoolClient, 'end'>) => () => void;

/**
 * Ends connections whose statement waits for a server that has stopped answering without closing them: the server's own
 * time-outs do not run either. Such a statement fails like one on a lost connection, in less than three seconds. A slow
 * statement on a server that accepts connections keeps waiting.
 */
export function watchStatements(pool: ServerPool): WatchStatement {
  const { first, most } = budgets.reach.stall;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;
  const ask = async () => {
    const answers = await doesAnswer(pool);
    if (answers) answeredAt = performance.now();
    asking = undefined;
    return answers;
  };
  const isAnswering = async () => {
    if (performance.now() - answeredAt < first) return true;
    asking ??= ask();
    return asking;
  };

  return (client) => {
    let timer: NodeJS.Timeout | undefined;
    const lookIn = (ms: number) => {
      timer = setTimeout(async () => {
        const answers = await isAnswering();
        if (timer === undefined) return;
        if (answers) lookIn(Math.min(ms * 2, most));
        else void client.end().catch(() => undefined);
      }, ms);
    };
    lookIn(first);
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  };
}

/** Whether the server answers a new connection in time, even if it refuses it. */
async function doesAnswer({ Client, options }: ServerPool): Promise<boolean> {
  const probe = new Client(options);
  probe.on('error', () => undefined);
  try {
    await probe.connect();
    return true;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'severity' in error;
  } finally {
    void probe.end().catch(() => undefined);
  }
}
