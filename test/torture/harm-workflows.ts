import { randomUUID } from 'node:crypto';
import { schedules } from '../../src/wiring/temporal/prepare.ts';
import type { Random } from './random.ts';
import type { Topology } from './topology.ts';

/** Workflows of rows, not of schedules. */
const families = [
  'gatewayPayment',
  'partnerPayment',
  'partnerPayout',
  'partnerPayoutBatch',
  'partnerInstrument',
  'withdrawal',
  'paymentRefund',
  'savingCircle',
  'donationAllocation',
  'donationSubscription',
  'webhookDelivery',
  'unmatchedReceipt',
] as const;

export interface ListedWorkflow {
  id: string;
  runId: string;
  type: string;
  status: string;
  /** Milliseconds of the epoch. */
  startedAt: number;
}

/** The workflows of resources, in these states. */
export async function listWorkflows(
  { deps: { workflows } }: Pick<Topology, 'deps'>,
  statuses: readonly string[],
): Promise<ListedWorkflow[]> {
  const types = families.map((type) => `'${type}'`).join(', ');
  const states = statuses.map((status) => `'${status}'`).join(', ');
  const found: ListedWorkflow[] = [];
  const query = `WorkflowType in (${types}) and ExecutionStatus in (${states})`;
  for await (const { workflowId, runId, type, status, startTime } of workflows.client.workflow.list({ query })) {
    found.push({ id: workflowId, runId, type, status: status.name, startedAt: startTime.getTime() });
  }
  return found;
}

/**
 * Terminates, cancels or resets one running workflow, as an operator might by mistake. Calls `harming` with it first,
 * because the answer may be lost. Returns whether a workflow was running.
 */
export async function harmWorkflow(
  topology: Topology,
  harm: 'terminate' | 'cancel' | 'reset',
  random: Random,
  harming: (workflow: ListedWorkflow) => void,
): Promise<boolean> {
  const running = (await listWorkflows(topology, ['Running'])).toSorted((one, other) => one.id.localeCompare(other.id));
  if (running.length === 0) return false;
  const harmed = random.pick(running);
  const { id, runId } = harmed;
  harming(harmed);
  const { client } = topology.deps.workflows;
  const handle = client.workflow.getHandle(id, runId);
  if (harm !== 'reset') {
    await (harm === 'terminate' ? handle.terminate('torture') : handle.cancel());
    return true;
  }
  const { events } = await handle.fetchHistory();
  const first = events?.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  if (first?.eventId == null) return false;
  await client.workflowService.resetWorkflowExecution({
    namespace: topology.deps.config.TEMPORAL_NAMESPACE,
    workflowExecution: { workflowId: id, runId },
    reason: 'torture',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId,
  });
  return true;
}

const sweeps = /sweep|redeliver/i;

/** Starts every sweep twice, in addition to its schedule. */
export async function startSweepsTwice({ deps: { workflows } }: Topology, name: string): Promise<void> {
  const types = schedules.map(({ workflowType }) => workflowType).filter((type) => sweeps.test(type));
  await Promise.all(
    [...types, ...types].map((type, index) =>
      workflows.client.workflow.start(type, {
        workflowId: `torture/${name}/${type}/${index}`,
        taskQueue: workflows.taskQueue,
        args: [],
      }),
    ),
  );
}
