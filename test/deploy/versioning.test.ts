import { buildIndividual } from '../support/build.ts';
import { eventually, type Stack, startStack } from '../support/stack.ts';

const deploymentName = `amanah-${process.pid}`;
const buildId = '2026-02-01.1';

let stack: Stack;
beforeAll(async () => {
  const env = { WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: buildId };
  stack = await startStack({ own: true, isImpatient: true, worker: true, sandbox: true, env });
}, 90_000);
afterAll(() => stack.stop());

it('A versioned worker gets no work until its version is current, and then finishes what waited', async () => {
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
