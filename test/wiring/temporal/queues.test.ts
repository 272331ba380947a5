import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../../../dev/part.ts';
import { startWorker } from '../../../dev/service-parts.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { stepQueues, taskQueueOf } from '../../../src/platform/config/step-queues.ts';
import { type Receiver, startReceiver } from '../../partners/webhooks/receiver.ts';
import { buildIndividual } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { buildPartner } from '../../support/partner.ts';
import { testRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { believed, openTlsGate, shown, type TlsGate } from './tls-gate.ts';

const deploymentName = `amanah-${process.pid}`;
const buildId = '2026-02-01.1';

let gate: TlsGate;
let stack: Stack;
let receiver: Receiver;
const parts: Part[] = [];
beforeAll(async () => {
  [gate, receiver] = await Promise.all([openTlsGate(), startReceiver()]);
  const env = {
    ...{ ...gate.named, ...believed(gate.authority), ...shown(gate.client) },
    ...{ WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: buildId },
  };
  stack = await startStack({ own: true, isImpatient: true, sandbox: true, env });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await Promise.all(parts.map((part) => part.stop()));
  await receiver.stop();
  await stack.stop();
  gate.close();
});

/** Starts a worker for these queues; returns what it has logged until it was ready. */
async function startQueues(queues: string): Promise<string> {
  const logFile = join(testRun().directory, 'logs', stack.deps.workflows.taskQueue, `worker-${queues}.log`);
  parts.push(await startWorker({ env: { ...stack.env, WORKER_QUEUES: queues, LOG_LEVEL: 'warn' }, logFile }));
  return readFile(logFile, 'utf8');
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
  it('A worker logs no warning on a regular start', async () => {
    expect(await startQueues('ledger,provider,background')).toBe('');
  }, 60_000);

  it('A versioned worker behind TLS gets no work until its version is current, and then the waiting work', async () => {
    const payer = await buildIndividual(stack);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const topUp = () =>
      stack.post('/v1/payments/gateway', body, {
        token: payer.token,
        headers: { 'idempotency-key': 'before-it-was-current' },
      });
    const early = await topUp();
    expect(early.status).not.toBe(201);

    const { client } = stack.deps.workflows;
    const { TEMPORAL_NAMESPACE: namespace } = stack.deps.config;
    await eventually(
      () =>
        client.workflowService
          .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'test' })
          .then(() => true)
          .catch((error: unknown) => String(error)),
      (done) => done === true,
    );
    const answer = await eventually(topUp, ({ status }) => status === 201, 60_000);
    const id: string = answer.body.data.payment_order_id;
    const { workflowExecutionInfo } = await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId: `gateway-payment/${id}` },
    });
    expect(workflowExecutionInfo?.versioningInfo?.deploymentVersion).toMatchObject({ deploymentName, buildId });
  }, 120_000);

  it('A worker runs only the activities of its own queues; other activities wait', async () => {
    const partner = await buildPartner(stack, { webhook: { url: receiver.url } });
    const { body } = await partner.post('/payments', { method: 'qris', amount: '20000' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${body.data.id}`)).body.data.status,
      (status) => status === 'succeeded',
    );
    await eventually(webhooksWait, (wait) => wait);
    expect(receiver.received).toEqual([]);
  }, 120_000);

  itInFull(
    'A worker runs the tasks that waited in its queue before it started',
    async () => {
      await startQueues('webhooks');
      await eventually(
        async () => receiver.received.length,
        (count) => count === 1,
      );
    },
    120_000,
  );

  it.each(['ledger,reports', 'ledger,ledger', ','])(
    'A worker refuses to start with WORKER_QUEUES=%s, naming the variable',
    (queues) => {
      expect(() => readConfig({ ...stack.env, WORKER_QUEUES: queues })).toThrow(/WORKER_QUEUES/);
    },
  );

  it('A worker polls all queues by default', () => {
    expect(readConfig({ ...stack.env, WORKER_QUEUES: '' }).WORKER_QUEUES).toEqual(stepQueues);
  });
});
