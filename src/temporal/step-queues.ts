/**
 * What steps wait for, and so which of them share a task queue and its slots: workflows and ledger steps have the task
 * queue that is configured, and the others one beside it, so that none waits for what the others wait for.
 */
export const stepQueues = ['ledger', 'provider', 'webhooks', 'background'] as const;
export type StepQueue = (typeof stepQueues)[number];

/** The name of a task queue; `taskQueue` is that of the workflows. */
export const taskQueueOf = (taskQueue: string, queue: StepQueue): string =>
  queue === 'ledger' ? taskQueue : `${taskQueue}-${queue}`;
