import type { Client } from '@temporalio/client';
import { dayMs } from '../../shared/clock.ts';
import { schedules } from './prepare.ts';

/** Some 300 of these runs complete in an hour. */
const mostAtOnce = 1000;
/** Those that run at least hourly; the nightly ones are kept as long as payments are. */
const frequent = schedules.filter(({ every }) => /second|minute/.test(every)).map(({ workflowType }) => workflowType);

/**
 * Deletes the histories of frequent scheduled runs that completed more than `keptMs` ago, a day by default: a
 * namespace has one retention, that of payments. Failed runs stay. Returns how many it deleted.
 */
export async function forgetScheduledRuns(
  { workflow, workflowService, options }: Client,
  taskQueue: string,
  { keptMs = dayMs }: { keptMs?: number } = {},
): Promise<number> {
  const types = frequent.map((type) => `'${type}'`).join(', ');
  const before = new Date(Date.now() - keptMs).toISOString();
  const query =
    `TaskQueue = '${taskQueue}' and WorkflowType in (${types}) and ExecutionStatus = 'Completed' ` +
    `and CloseTime < '${before}'`;
  let deleted = 0;
  for await (const { workflowId, runId } of workflow.list({ query, pageSize: mostAtOnce })) {
    const workflowExecution = { workflowId, runId };
    await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution });
    deleted += 1;
    if (deleted === mostAtOnce) break;
  }
  return deleted;
}
