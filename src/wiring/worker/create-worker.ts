import {
  DefaultLogger,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerDeploymentOptions,
} from '@temporalio/worker';
import type { Config } from '../../platform/config/config.ts';
import { boundOfLocal, type StepQueue, taskQueueOf } from '../../platform/config/step-queues.ts';
import type { Logger } from '../../platform/process/log.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Dependencies } from '../dependencies.ts';
import { tracedSteps } from '../temporal/trace-temporal.ts';
import { preloadModules, workflowInterceptorModules, workflowsPath } from './workflow-modules.ts';

/**
 * Concurrent activities per queue, by what they wait for. Activities that wait for the provider or a partner's endpoint
 * hold no database connection while waiting; ledger activities do.
 */
const slots: Readonly<Record<StepQueue, number>> = { ledger: 40, provider: 40, webhooks: 100, background: 20 };
/**
 * A workflow task holds its slot while a local activity runs. Two kinds of local activities wait for the provider, and
 * leave the others as many slots as the ledger's steps have.
 */
const maxConcurrentWorkflowTasks = slots.ledger + 2 * boundOfLocal;
/**
 * The workflows that a worker caches; an evicted one is replayed from its history at its next event, which takes about
 * 10 ms of CPU time for a payment. Each uses up to 0.5 MB, and the worker another 300 MB, so it stays below 700 MB. By
 * default the SDK caches as many as V8's heap allows: 2,300 on a machine with 8 GB.
 */
const maxCachedWorkflows = 400;

/**
 * Returns this worker's deployment version, when one is configured. Workflows are upgraded to the newest version
 * automatically, because some run for years; their code stays replay-safe instead (docs/upgrading.md).
 */
function deploymentOf({ WORKER_DEPLOYMENT_NAME, WORKER_BUILD_ID }: Config): WorkerDeploymentOptions | undefined {
  if (WORKER_DEPLOYMENT_NAME === undefined || WORKER_BUILD_ID === undefined) return undefined;
  return {
    version: { deploymentName: WORKER_DEPLOYMENT_NAME, buildId: WORKER_BUILD_ID },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  };
}

/** A worker of this process and the task queue that it polls. */
export interface QueueWorker {
  queue: StepQueue;
  worker: Worker;
}

/**
 * Creates the workers of this process, one per configured task queue. Each can run every activity, whichever queue an
 * earlier release used for it; the ledger's worker runs the workflows, from the prebuilt bundle or bundled at start.
 */
export async function createWorkers(
  deps: Dependencies,
  connection: NativeConnection,
  activities: object,
): Promise<QueueWorker[]> {
  const { config } = deps;
  const bundle = config.WORKFLOW_BUNDLE;
  const deployment = deploymentOf(config);
  const workflows = {
    ...(bundle === undefined
      ? { workflowsPath, bundlerOptions: { preloadModules } }
      : { workflowBundle: { codePath: bundle } }),
    maxConcurrentLocalActivityExecutions: maxConcurrentWorkflowTasks,
    maxConcurrentWorkflowTaskExecutions: maxConcurrentWorkflowTasks,
    maxCachedWorkflows,
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
          ...(deps.telemetry.on && { activity: [tracedSteps] }),
          // A prebuilt bundle already contains them.
          ...(queue === 'ledger' && bundle === undefined && { workflowModules: workflowInterceptorModules }),
        },
        ...(deployment && { workerDeploymentOptions: deployment }),
        shutdownGraceTime: budgets.shutdown.steps,
        maxConcurrentActivityTaskExecutions: slots[queue],
      }),
    })),
  );
}

/** SDK warnings that need no attention. */
const unremarkable: ReadonlySet<string> = new Set([
  // Each step logs its own failures, but not every attempt.
  'Activity failed',
  // Only the ledger's worker runs workflows.
  'No workflows registered, not polling for workflow tasks',
]);

/**
 * Sends the SDK's log lines through our log, and its metrics (workflows, task latencies, free slots) to their own port
 * where one is configured. One runtime per process, installed before anything connects.
 */
export function installRuntime({ TEMPORAL_METRICS_PORT: port }: Config, log: Logger): void {
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
