import { randomUUID } from 'node:crypto';
import { schedules } from '../../src/temporal/prepare.ts';
import type { Random } from './random.ts';
import type { Topology } from './topology.ts';

/** Workflows that look after a row; those of schedules are not among them. */
const families = [
  'gatewayPayment',
  'partnerPayment',
  'partnerPayout',
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
  for await (const { workflowId, runId, type, status } of workflows.client.workflow.list({ query })) {
    found.push({ id: workflowId, runId, type, status: status.name });
  }
  return found;
}

/** Does to one running workflow what an operator might do by mistake. Answers its id, or undefined when there was none to harm. */
export async function harmWorkflow(
  topology: Topology,
  harm: 'terminate' | 'cancel' | 'reset',
  random: Random,
  note: (text: string) => void,
): Promise<string | undefined> {
  const running = (await listWorkflows(topology, ['Running'])).toSorted((one, other) => one.id.localeCompare(other.id));
  if (running.length === 0) return undefined;
  const { id, runId } = random.pick(running);
  note(`${harm} of ${id}`);
  const { client } = topology.deps.workflows;
  const handle = client.workflow.getHandle(id, runId);
  if (harm !== 'reset') {
    await (harm === 'terminate' ? handle.terminate('torture') : handle.cancel());
    return id;
  }
  const { events } = await handle.fetchHistory();
  const first = events?.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  if (first?.eventId == null) return undefined;
  await client.workflowService.resetWorkflowExecution({
    namespace: topology.deps.config.TEMPORAL_NAMESPACE,
    workflowExecution: { workflowId: id, runId },
    reason: 'torture',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId,
  });
  return id;
}

const sweeps = /sweep|redeliver/i;

/** Starts every sweep twice, beside what its schedule starts. */
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
