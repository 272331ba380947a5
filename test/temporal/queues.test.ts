import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../../dev/part.ts';
import { startWorker } from '../../dev/service-parts.ts';
import { readConfig } from '../../src/config.ts';
import { stepQueues, taskQueueOf } from '../../src/temporal/step-queues.ts';
import { buildPartner } from '../support/partner.ts';
import { testRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

let stack: Stack;
let receiver: Receiver;
const parts: Part[] = [];
beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ own: true, sandbox: true }), startReceiver()]);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await Promise.all(parts.map((part) => part.stop()));
  await receiver.stop();
  await stack.stop();
});

const logOf = (queues: string): string =>
  join(testRun().directory, 'logs', stack.deps.workflows.taskQueue, `worker-${queues}.log`);

async function startQueues(queues: string): Promise<void> {
  const env = { ...stack.env, WORKER_QUEUES: queues, LOG_LEVEL: 'warn' };
  const logFile = logOf(queues);
  parts.push(await startWorker({ env, logFile }));
}

const webhooksWait = async (): Promise<boolean> => {
  const { connection, options } = stack.deps.workflows.client;
  const taskQueue = { name: taskQueueOf(stack.deps.workflows.taskQueue, 'webhooks') };
  const { stats } = await connection.workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue,
    taskQueueType: 2,
    reportStats: true,
  });
  return Number(stats?.approximateBacklogCount ?? 0) > 0;
};

describe('A worker', () => {
  it('takes the steps of its own queues, while those of others wait for a worker of theirs', async () => {
    const partner = await buildPartner(stack, { webhook: { url: receiver.url } });
    await startQueues('ledger,provider,background');
    const { body } = await partner.post('/payments', { method: 'qris', amount: '20000' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${body.data.id}`)).body.data.status,
      (status) => status === 'succeeded',
    );
    await eventually(webhooksWait, (wait) => wait);
    expect(receiver.received).toEqual([]);
    await startQueues('webhooks');
    await eventually(
      async () => receiver.received.length,
      (count) => count === 1,
    );
  }, 120_000);

  it('warns about nothing when it starts as it should', async () => {
    await startQueues('provider,background');
    expect(await readFile(logOf('provider,background'), 'utf8')).toBe('');
  }, 60_000);

  it.each(['ledger,reports', 'ledger,ledger', ','])(
    'refuses to start with WORKER_QUEUES=%s, naming the variable',
    (queues) => {
      expect(() => readConfig({ ...stack.env, WORKER_QUEUES: queues })).toThrow(/WORKER_QUEUES/);
    },
  );

  it('takes all queues unless told otherwise', () => {
    expect(readConfig({ ...stack.env, WORKER_QUEUES: '' }).WORKER_QUEUES).toEqual(stepQueues);
  });
});
