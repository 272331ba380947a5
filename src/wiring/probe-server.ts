import { once } from 'node:events';
import { createServer } from 'node:http';
import Koa from 'koa';
import { probes } from '../platform/http/probes.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on their own port: the worker's `WORKER_PORT`, and the API's
 * `METRICS_PORT`, which the API's clients cannot reach.
 */
export async function serveProbes(
  { readiness, metrics, config, log }: Dependencies,
  port: number,
): Promise<AsyncDisposable> {
  const app = new Koa();
  app.use(probes(readiness, metrics, log).routes());
  const server = createServer(app.callback());
  server.listen(port, config.LISTEN_ADDRESS);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
