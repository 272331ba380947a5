import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { webhookDelivery } from './webhook-delivery.ts';

/** Starts the workflow of a recorded webhook, which outlives its parent. Does nothing if it is already running. */
export async function startDelivery(
  deliveryId: string,
  subject: 'payment' | 'payout' | 'batch of payouts',
): Promise<void> {
  try {
    await startChild(webhookDelivery, {
      workflowId: workflowIds.webhookDelivery(deliveryId),
      args: [{ deliveryId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `A webhook about a ${subject}`,
    });
  } catch (error) {
    if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
  }
}
