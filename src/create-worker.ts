import { fileURLToPath } from 'node:url';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { Dependencies } from './dependencies.ts';
import { workflowInterceptorModules } from './telemetry.ts';

/** After SIGTERM, activities under way get this long to end; longer than any of their HTTP time-outs. */
const shutdownGraceTime = '20 seconds';
/** Activities and workflow tasks at once; each activity may hold a database connection. */
const maxConcurrentActivities = 40;
const maxConcurrentWorkflowTasks = 40;

/** A worker for the configured namespace and task queue; its workflow code is the prebuilt bundle, or built now. */
export async function createWorker(deps: Dependencies, connection: NativeConnection): Promise<Worker> {
  const { config } = deps;
  const bundle = config.WORKFLOW_BUNDLE;
  return Worker.create({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    activities: createActivities(deps),
    ...(bundle === undefined
      ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
      : { workflowBundle: { codePath: bundle } }),
    interceptors: { ...deps.telemetry.worker.interceptors, workflowModules: workflowInterceptorModules },
    sinks: deps.telemetry.worker.sinks,
    shutdownGraceTime,
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
    maxConcurrentLocalActivityExecutions: maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: maxConcurrentWorkflowTasks,
  });
}

let installed = false;

/** The SDK's own log lines go through ours; one runtime per process, before anything connects. */
export function installWorkerLogger({ log }: Dependencies): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const { error, ...facts } = meta ?? {};
      log[level === 'ERROR' ? 'error' : 'warn']({ temporal: facts, err: error }, message);
    }),
  });
}
