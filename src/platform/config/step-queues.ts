/**
 * The kinds of activities, by what they wait for. Workflows and ledger activities use the configured task queue; each
 * other kind has its own queue and slots, so that no kind waits behind another.
 */
export const stepQueues = ['ledger', 'provider', 'webhooks', 'background'] as const;
export type StepQueue = (typeof stepQueues)[number];

/** The name of a task queue; `taskQueue` is the workflows' queue. */
export const taskQueueOf = (taskQueue: string, queue: StepQueue): string =>
  queue === 'ledger' ? taskQueue : `${taskQueue}-${queue}`;

/** Maximum concurrent local activities of one type that wait for the provider, per worker. */
export const boundOfLocal = 30;
