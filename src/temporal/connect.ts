import { Client, Connection } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';

export interface TemporalOptions {
  address: string;
  namespace: string;
  /** Whether calls carry the trace of the request that makes them. */
  traced?: boolean;
}

/** A client that connects on first use and comes back within seconds after Temporal was away. */
export function openTemporal({ address, namespace, traced = false }: TemporalOptions): Client {
  const connection = Connection.lazy({
    address,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2000,
    },
  });
  const workflow = traced ? [new OpenTelemetryWorkflowClientInterceptor()] : [];
  return new Client({ connection, namespace, interceptors: { workflow } });
}
