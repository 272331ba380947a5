import { once } from 'node:events';
import { createServer } from 'node:http';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { openDependencies } from './dependencies.ts';
import { keepUploadsSwept } from './documents/sweep-uploads.ts';
import { announceReady, runMain, stopSignal, waitForParts } from './process.ts';

/** After SIGTERM, requests under way get this long to end. */
const drainTimeoutMs = 25_000;

await runMain(async () => {
  const config = readConfig();
  await using deps = await openDependencies(config, { process: 'api' });
  const { database } = deps.readiness;
  await waitForParts(database ? { database } : {}, deps.log);
  await deps.tokens.jwks();
  const server = createServer(createApp(deps).callback());
  server.requestTimeout = 0;
  server.headersTimeout = 15_000;
  server.keepAliveTimeout = 65_000;
  server.listen(config.PORT);
  await once(server, 'listening');
  const address = server.address();
  deps.log.info({ port: typeof address === 'object' ? address?.port : config.PORT }, 'the API listens');
  announceReady();
  const stopSweeping = keepUploadsSwept(deps);

  const reason = await stopSignal();
  deps.log.info({ reason }, 'the API stops: no new connections, requests under way end');
  stopSweeping();
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await closed;
  clearTimeout(timer);
});
