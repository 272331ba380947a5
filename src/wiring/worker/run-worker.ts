import { NativeConnection } from '@temporalio/worker';
import { measureClearingDifference } from '../../control/reconciliation/measure-clearing.ts';
import { measureSeals } from '../../ledger/seals/measure-seals.ts';
import { keysMigrations } from '../../migrations/keys/index.ts';
import { refuseMissingMigrations } from '../../migrations/refuse-missing-migrations.ts';
import { redeliverUnreceipted } from '../../money-in/callbacks/deliver-callback.ts';
import { keepMailSent } from '../../people/mail/keep-mail-sent.ts';
import type { Config } from '../../platform/config/config.ts';
import { connectionOptions } from '../../platform/config/connection-options.ts';
import { refuseOtherTimeOuts } from '../../platform/database/database-time-outs.ts';
import { refuseMightyRole } from '../../platform/database/refuse-mighty-role.ts';
import { refuseOtherReplica } from '../../platform/database/replica.ts';
import { lookAtEverythingAgain } from '../../platform/housekeeping/sweep-rows.ts';
import { measureWorkers } from '../../platform/metrics/measure-workers.ts';
import { endReadiness, waitForParts } from '../../platform/process/process.ts';
import { type Dependencies, openDependencies } from '../dependencies.ts';
import { measureBacklog } from '../measure-backlog.ts';
import { serveProbes } from '../probe-server.ts';
import { keepPrepared } from '../temporal/prepare.ts';
import { createWorkers } from './create-worker.ts';

/**
 * Runs a worker with these activities from its start to its end: waits for PostgreSQL and Temporal, refuses a database
 * that does not fit, and polls the configured queues until the promise of `begun`, which is called once the worker polls,
 * resolves to the reason to stop; then completes its running steps. Throws what makes it impossible to start.
 */
export async function runWorker(
  config: Config,
  createActivities: (deps: Dependencies) => object,
  begun: (deps: Dependencies) => Promise<string>,
): Promise<void> {
  await using deps = await openDependencies(config, { process: 'worker' });
  const { database, temporal } = deps.readiness;
  // Does not wait for the keys database: most payments need no personal data, and a step that does is retried.
  await waitForParts({ ...(database && { database }), ...(temporal && { temporal }) }, deps.log);
  const keysAnswer = await deps.personalKeys.ping().then(
    () => true,
    () => false,
  );
  if (!keysAnswer) deps.log.warn('the keys database is down: steps that need personal data will wait');
  const schema = await refuseMissingMigrations(deps.orm.em.fork());
  const keysSchema = keysAnswer && (await refuseMissingMigrations(deps.keysOrm.em.fork(), keysMigrations));
  // Check the roles before the time-outs: the error about time-outs says to migrate, which does not fix an
  // over-privileged role.
  if (config.NODE_ENV === 'production') {
    await refuseMightyRole(deps.orm.em.fork(), 'DATABASE_URL', schema);
    if (keysSchema) await refuseMightyRole(deps.keysOrm.em.fork(), 'KEYS_DATABASE_URL', keysSchema);
  }
  await refuseOtherTimeOuts(deps.orm.em.fork());
  await refuseOtherReplica(deps.orm);
  if (keysAnswer) await deps.personalKeys.lookUpKey();
  measureBacklog(deps.metrics, deps.orm);
  measureClearingDifference(deps.metrics, deps.orm);
  measureSeals(deps.metrics, deps.orm);
  await using _probes = config.WORKER_PORT === undefined ? null : await serveProbes(deps, config.WORKER_PORT);
  const { client, taskQueue } = deps.workflows;
  await using prepared = await keepPrepared({
    client,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue,
    log: deps.log,
    beginAnew: async () => {
      await redeliverUnreceipted(deps.orm.em.fork());
      await lookAtEverythingAgain(deps.orm.em.fork());
    },
  });
  deps.readiness.search_attributes = prepared.ready;
  const connection = await NativeConnection.connect(connectionOptions(config));
  try {
    const workers = await createWorkers(deps, connection, createActivities(deps));
    // If one worker exits on its own, all stop: the supervisor restarts the process.
    const running = workers.map(({ worker }) => worker.run());
    measureWorkers(
      deps.metrics,
      workers.map(({ queue, worker }) => ({ queue, polls: () => worker.getState() === 'RUNNING' })),
    );
    deps.log.info({ taskQueue, queues: config.WORKER_QUEUES }, 'the worker is polling');
    await using _mail = keepMailSent(deps);
    const ended = await Promise.race([begun(deps), ...running]);
    deps.log.info(
      { reason: ended ?? 'the worker exited' },
      'the worker is shutting down: it completes its running steps',
    );
    endReadiness(deps.readiness);
    for (const { worker } of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.all(running);
  } finally {
    await connection.close();
  }
}
