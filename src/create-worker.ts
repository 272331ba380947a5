import { fileURLToPath } from 'node:url';
import {
  DefaultLogger,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerDeploymentOptions,
} from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { Config } from './config.ts';
import type { Dependencies } from './dependencies.ts';
import { budgets } from './shared/budgets.ts';
import { workflowInterceptorModules } from './telemetry.ts';

/** Activities and workflow tasks at once; each activity may hold a database connection. */
const maxConcurrentActivities = 40;
const maxConcurrentWorkflowTasks = 40;

/**
 * The version of this worker, when one is configured: workflows move to the newest version by themselves, because some
 * run for years; their code stays replay-safe instead (docs/operations.md, Upgrading).
 */
function deploymentOf({ WORKER_DEPLOYMENT_NAME, WORKER_BUILD_ID }: Config): WorkerDeploymentOptions | undefined {
  if (WORKER_DEPLOYMENT_NAME === undefined || WORKER_BUILD_ID === undefined) return undefined;
  return {
    version: { deploymentName: WORKER_DEPLOYMENT_NAME, buildId: WORKER_BUILD_ID },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  };
}

/** A worker for the configured namespace and task queue; its workflow code is the prebuilt bundle, or built now. */
export async function createWorker(deps: Dependencies, connection: NativeConnection): Promise<Worker> {
  const { config } = deps;
  const bundle = config.WORKFLOW_BUNDLE;
  const deployment = deploymentOf(config);
  return Worker.create({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    activities: createActivities(deps),
    ...(bundle === undefined
      ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
      : { workflowBundle: { codePath: bundle } }),
    interceptors: {
      ...deps.telemetry.activityInterceptors,
      // A prebuilt bundle has them in it.
      ...(bundle === undefined && { workflowModules: workflowInterceptorModules }),
    },
    ...(deployment && { workerDeploymentOptions: deployment }),
    shutdownGraceTime: budgets.shutdown.steps,
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
    maxConcurrentLocalActivityExecutions: maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: maxConcurrentWorkflowTasks,
  });
}

let installed = false;

/**
 * The SDK's own log lines go through ours, and its metrics (workflows, task latencies, free slots) to a port of their
 * own where one is configured; one runtime per process, before anything connects.
 */
export function installRuntime({ config, log }: Dependencies): void {
  if (installed) return;
  installed = true;
  const { TEMPORAL_METRICS_PORT: port } = config;
  Runtime.install({
    ...(port !== undefined && {
      telemetryOptions: { metrics: { prometheus: { bindAddress: `0.0.0.0:${port}`, useSecondsForDurations: true } } },
    }),
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // Each step tells of its own failures, and not of each attempt.
      if (message === 'Activity failed') return;
      const { error, ...facts } = meta ?? {};
      log[level === 'ERROR' ? 'error' : 'warn']({ temporal: facts, err: error }, message);
    }),
  });
}
