import type { WorkflowClient, WorkflowHandle } from '@temporalio/client';

/** A handle to the current run of a workflow: after the run closes, a signal starts another under the same id. */
export async function currentRun(client: WorkflowClient, workflowId: string): Promise<WorkflowHandle> {
  return client.getHandle(workflowId, (await client.getHandle(workflowId).describe()).runId);
}
