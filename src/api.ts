import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyRegisterWhole } from './control/erasure/apply-register.ts';
import { keysMigrations } from './migrations/keys/index.ts';
import { refuseMissingMigrations } from './migrations/refuse-missing-migrations.ts';
import { keepUploadsSwept } from './people/documents/sweep-uploads.ts';
import { readConfig } from './platform/config/config.ts';
import { refuseOtherTimeOuts } from './platform/database/database-time-outs.ts';
import { refuseMightyRole } from './platform/database/refuse-mighty-role.ts';
import { refuseOtherReplica } from './platform/database/replica.ts';
import { createHttpServer } from './platform/http/create-http-server.ts';
import { announceReady, endReadiness, runMain, stopSignal, waitForParts } from './platform/process/process.ts';
import { budgets } from './shared/budgets.ts';
import { createApp } from './wiring/app.ts';
import { openDependencies } from './wiring/dependencies.ts';
import { serveProbes } from './wiring/probe-server.ts';
import { certificatesRenewed } from './wiring/temporal/certificate-renewal.ts';

await runMain(async () => {
  const config = readConfig();
  await using deps = await openDependencies(config, { process: 'api' });
  const { database } = deps.readiness;
  await waitForParts({ ...(database && { database }), keys: deps.personalKeys.ping }, deps.log);
  const schema = await refuseMissingMigrations(deps.orm.em.fork());
  const keysSchema = await refuseMissingMigrations(deps.keysOrm.em.fork(), keysMigrations);
  // Check the roles before the time-outs: the error about time-outs says to migrate, which does not fix an
  // over-privileged role.
  if (config.NODE_ENV === 'production') {
    await refuseMightyRole(deps.orm.em.fork(), 'DATABASE_URL', schema);
    await refuseMightyRole(deps.keysOrm.em.fork(), 'KEYS_DATABASE_URL', keysSchema);
  }
  await refuseOtherTimeOuts(deps.orm.em.fork());
  await refuseOtherReplica(deps.orm);
  // Check that these are our keys before the register is applied to them.
  await deps.personalKeys.lookUpKey();
  // A database restored from a backup may contain people who have been erased since.
  const stopApplying = await applyRegisterWhole(deps);
  await deps.tokens.jwks();
  const serve = createApp(deps).callback();
  await using _metrics = config.METRICS_PORT === undefined ? null : await serveProbes(deps, config.METRICS_PORT);
  let stops = false;
  const server = createHttpServer(
    (request, response) => {
      // A keep-alive connection would otherwise bring further requests to a process that is shutting down.
      if (stops) response.setHeader('Connection', 'close');
      return serve(request, response);
    },
    { maxConnections: config.MAX_CONNECTIONS },
  );
  server.listen(config.PORT, config.LISTEN_ADDRESS);
  await once(server, 'listening');
  const address = server.address();
  deps.log.info({ port: typeof address === 'object' ? address?.port : config.PORT }, 'the API is listening');
  announceReady();
  const stopSweeping = keepUploadsSwept(deps);

  const reason = await stopSignal(certificatesRenewed(config, deps));
  endReadiness(deps.readiness);
  stops = true;
  deps.log.info(
    { reason },
    'the API is shutting down: it reports not ready, then refuses new connections and completes open requests',
  );
  stopSweeping();
  stopApplying();
  // Until the load balancer notices, requests still arrive and are served.
  await sleep(config.DRAIN_DELAY_SECONDS * 1000);
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), budgets.shutdown.requests);
  await closed;
  clearTimeout(timer);
});
