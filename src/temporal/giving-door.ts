import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { Logger } from 'pino';
import type { donationAllocation } from '../../workflows/donation-allocation.ts';
import type { DonationSubscriptionInput, donationSubscription } from '../../workflows/donation-subscription.ts';
import type { AllocationOutcome, AllocationRequest } from '../donations/allocation.ts';
import type { SubscriptionStanding } from '../donations/subscription.ts';
import type { SubscriptionPort } from '../donations/sweep-subscriptions.ts';
import { budgets } from '../shared/budgets.ts';
import { workflowIds } from '../shared/ids.ts';
import { canonicalId } from '../shared/uuid.ts';
import { reachTemporal, type TemporalDoor, withinWait } from './door.ts';
import { callTimeoutMs } from './within-wait.ts';

/**
 * Starts the workflow of an allocation, or joins the one of the same batch that runs, and waits at most `waitMs` for its
 * outcome. Null when the wait ended without one. Refuses with SERVICE_UNAVAILABLE when Temporal is away.
 */
export async function runDonationAllocation(
  { client, taskQueue, ping }: Pick<TemporalDoor, 'client' | 'taskQueue' | 'ping'>,
  request: AllocationRequest,
  waitMs: number,
): Promise<AllocationOutcome | null> {
  await reachTemporal(ping);
  return withinWait(client, waitMs, async () => {
    const handle = await client.workflow.start<typeof donationAllocation>('donationAllocation', {
      workflowId: workflowIds.donationAllocation(request.batchId),
      taskQueue,
      args: [request],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: 'Open donations, allocated to a cause as one batch',
    });
    return handle.result();
  });
}

/**
 * Starts the workflow of a subscription, or joins the one that runs, and waits at most `waitMs` for its first payment.
 * Null when the wait ended without an answer. Refuses what the first payment refuses, and with SERVICE_UNAVAILABLE when
 * Temporal is away.
 */
export async function startDonationSubscription(
  { client, taskQueue, ping }: Pick<TemporalDoor, 'client' | 'taskQueue' | 'ping'>,
  input: Required<DonationSubscriptionInput>,
  waitMs: number,
): Promise<SubscriptionStanding | null> {
  await reachTemporal(ping);
  const { amount, interval } = input.opening;
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof donationSubscription>('donationSubscription', {
    workflowId: workflowIds.donationSubscription(input.subscriptionId),
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `A ${interval} donation of IDR ${amount}`,
  });
  return withinWait(client, waitMs, () =>
    client.workflow.executeUpdateWithStart<Workflow, SubscriptionStanding, []>('awaitFirstPayment', {
      startWorkflowOperation,
    }),
  );
}

/** A hint may be lost: the workflow looks at the row before it pays. */
const hintTimeoutMs = budgets.reach.temporal;

/** Tells the workflow of a subscription that its donor has stopped it; does nothing more when Temporal is away. */
export async function hintSubscriptionStopped(
  { temporal: { client }, log }: { temporal: Pick<TemporalDoor, 'client'>; log: Logger },
  subscriptionId: string,
): Promise<void> {
  try {
    await client.withAbortSignal(AbortSignal.timeout(hintTimeoutMs), () =>
      client.withDeadline(Date.now() + hintTimeoutMs, () =>
        client.workflow.getHandle(workflowIds.donationSubscription(subscriptionId)).signal('subscriptionStopped'),
      ),
    );
  } catch (error) {
    log.debug({ err: error, subscription_id: subscriptionId }, 'the workflow of a stopped subscription was not told');
  }
}

/** How the sweep of subscriptions reaches their workflows. */
export const createSubscriptionPort = ({
  client,
  taskQueue,
}: {
  client: Client;
  taskQueue: string;
}): SubscriptionPort => ({
  async wakeSubscription(subscriptionId) {
    await client.withDeadline(Date.now() + callTimeoutMs, () =>
      client.workflow.signalWithStart<typeof donationSubscription>('donationSubscription', {
        workflowId: workflowIds.donationSubscription(subscriptionId),
        taskQueue,
        args: [{ subscriptionId: canonicalId(subscriptionId) }],
        signal: 'subscriptionStopped',
        staticSummary: 'A repeated donation, looked after again',
      }),
    );
  },
});
