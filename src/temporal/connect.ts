import { Client, Connection } from '@temporalio/client';

export interface TemporalOptions {
  address: string;
  namespace: string;
}

/** A client that connects on first use and comes back within seconds after Temporal was away. */
export function openTemporal({ address, namespace }: TemporalOptions): Client {
  const connection = Connection.lazy({
    address,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2000,
    },
  });
  return new Client({ connection, namespace });
}
