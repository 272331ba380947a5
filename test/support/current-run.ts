import type { WorkflowClient, WorkflowHandle } from '@temporalio/client';

/** The current run of a workflow: a signal that arrives after it has closed starts another, under the same id. */
export async function currentRun(client: WorkflowClient, workflowId: string): Promise<WorkflowHandle> {
  return client.getHandle(workflowId, (await client.getHandle(workflowId).describe()).runId);
}
