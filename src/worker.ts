import { createActivities } from '../activities/index.ts';
import { readConfig } from './platform/config/config.ts';
import { createLogger } from './platform/process/log.ts';
import { announceReady, runMain, stopSignal } from './platform/process/process.ts';
import { certificatesRenewed } from './wiring/temporal/certificate-renewal.ts';
import { installRuntime } from './wiring/worker/create-worker.ts';
import { runWorker } from './wiring/worker/run-worker.ts';

await runMain(() => {
  const config = readConfig(process.env, ['SEAL_SIGNING_KEY']);
  installRuntime(config, createLogger({ level: config.LOG_LEVEL, process: 'worker' }));
  return runWorker(config, createActivities, (deps) => {
    announceReady();
    return stopSignal(certificatesRenewed(config, deps));
  });
});
