import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { eventually } from './eventually.ts';

/**
 * Terminates a workflow as if Temporal had lost it. First waits for its start, because a request may be answered before
 * it.
 */
export async function loseWorkflow({ workflow }: Pick<Client, 'workflow'>, workflowId: string): Promise<void> {
  const isLost = async () => {
    try {
      await workflow.getHandle(workflowId).terminate('lost');
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
  await eventually(isLost, Boolean);
}
