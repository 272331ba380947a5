import { isGrpcServiceError } from '@temporalio/client';
import type { Dependencies } from '../../../src/wiring/dependencies.ts';

/** The gRPC status NOT_FOUND. */
const notFound = 5;

/** Fails the activity of a dead worker, so that the next worker retries it; Temporal does the same, but later. */
export async function giveUpStep(
  { deps: { workflows } }: { deps: Pick<Dependencies, 'workflows'> },
  workflowId: string,
): Promise<void> {
  const { client } = workflows;
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  await client.workflowService
    .respondActivityTaskFailedById({
      namespace: 'default',
      workflowId,
      activityId: raw.pendingActivities?.[0]?.activityId ?? '',
      failure: { message: 'its worker is dead' },
    })
    .catch((error: unknown) => {
      // Temporal may already have timed it out.
      if (!isGrpcServiceError(error) || error.code !== notFound) throw error;
    });
}
