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
import { type StepQueue, taskQueueOf } from './temporal/step-queues.ts';

/**
 * Steps at once, by what they wait for. Whatever waits for a partner's endpoint or for the provider holds no database
 * connection meanwhile; the ledger's steps do.
 */
const slots: Readonly<Record<StepQueue, number>> = { ledger: 40, provider: 40, webhooks: 100, background: 20 };
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

/** A worker of one process: what polls one task queue. */
export interface QueueWorker {
  queue: StepQueue;
  worker: Worker;
}

/**
 * The workers of this process, one for each task queue that it is configured for. Each can do every step, whichever
 * queue an earlier release has put it on; the ledger's runs the workflows, from the prebuilt bundle or built now.
 */
export async function createWorkers(deps: Dependencies, connection: NativeConnection): Promise<QueueWorker[]> {
  const { config } = deps;
  const bundle = config.WORKFLOW_BUNDLE;
  const deployment = deploymentOf(config);
  const activities = createActivities(deps);
  const workflows = {
    ...(bundle === undefined
      ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
      : { workflowBundle: { codePath: bundle } }),
    maxConcurrentLocalActivityExecutions: slots.ledger,
    maxConcurrentWorkflowTaskExecutions: maxConcurrentWorkflowTasks,
  };
  return Promise.all(
    config.WORKER_QUEUES.map(async (queue) => ({
      queue,
      worker: await Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        taskQueue: taskQueueOf(config.TEMPORAL_TASK_QUEUE, queue),
        activities,
        ...(queue === 'ledger' && workflows),
        interceptors: {
          ...deps.telemetry.activityInterceptors,
          // A prebuilt bundle has them in it.
          ...(queue === 'ledger' && bundle === undefined && { workflowModules: workflowInterceptorModules }),
        },
        ...(deployment && { workerDeploymentOptions: deployment }),
        shutdownGraceTime: budgets.shutdown.steps,
        maxConcurrentActivityTaskExecutions: slots[queue],
      }),
    })),
  );
}

/** What the SDK warns of and nobody has to look at. */
const unremarkable: ReadonlySet<string> = new Set([
  // Each step tells of its own failures, and not of each attempt.
  'Activity failed',
  // Only the ledger's worker runs workflows.
  'No workflows registered, not polling for workflow tasks',
]);

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
      if (unremarkable.has(message)) return;
      const { error, ...facts } = meta ?? {};
      log[level === 'ERROR' ? 'error' : 'warn']({ temporal: facts, err: error }, message);
    }),
  });
}
