import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { TemporalConnectionOptions } from '../../platform/config/connection-options.ts';
import { tracedCalls } from './trace-temporal.ts';

export interface TemporalOptions extends TemporalConnectionOptions {
  namespace: string;
  /** Whether calls carry the trace of their request. */
  traced?: boolean;
}

/** The longest pause before the SDK tries a failed call again. */
const longestRetryMs = 1000;
/** Allows for timers that fire a little late. */
const marginMs = 100;

/** Creates a client that connects on first use and reconnects within seconds after Temporal was down. */
export function openTemporal({ namespace, traced = false, ...how }: TemporalOptions): Client {
  const { retries, settled } = createRetries();
  const connection = Connection.lazy({
    ...how,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2000,
    },
    interceptors: [retries],
  });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    await settled();
    await close();
  };
  return new Client({ connection, namespace, interceptors: { workflow: traced ? [tracedCalls] : [] } });
}

/**
 * The SDK's own retries, made awaitable. The SDK retries a call from a timer that cannot be stopped, even by aborting
 * the call, and that crashes the process if the channel has been closed.
 */
function createRetries() {
  const standard = defaultGrpcRetryOptions({ maxIntervalMs: () => longestRetryMs });
  let isClosing = false;
  let lastRetryAt = Number.NEGATIVE_INFINITY;
  return {
    retries: makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => !isClosing && standard.retryableDecider(attempt, status),
      delayFunction(attempt, status) {
        const pause = standard.delayFunction(attempt, status);
        lastRetryAt = Math.max(lastRetryAt, performance.now() + pause);
        return pause;
      },
    }),
    /** Stops further retries; resolves when the last timer has fired. */
    async settled() {
      isClosing = true;
      const left = lastRetryAt - performance.now();
      if (left > -marginMs) await delay(left + marginMs);
    },
  };
}
