import { findFreePort } from '../../dev/ports.ts';
import { buildIndividual } from '../support/build.ts';
import { createHttp } from '../support/http.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let workerPort: number;
beforeAll(async () => {
  workerPort = await findFreePort();
  stack = await startStack({ own: true, worker: true, sandbox: true, env: { WORKER_PORT: String(workerPort) } });
  const payer = await buildIndividual(stack);
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  expect((await stack.post('/v1/payments/gateway', body, { token: payer.token })).status).toBe(201);
}, 60_000);
afterAll(() => stack.stop());

describe('Metrics', () => {
  it('of the API show requests by route and status, and the database pool', async () => {
    const { body } = await stack.get('/metrics');
    expect(body).toMatch(
      /amanah_http_request_seconds_count\{method="POST",route="\/v1\/payments\/gateway",status="201"\} 1/,
    );
    expect(body).toMatch(/amanah_database_pool_connections\{state="idle"\} \d+/);
  });

  it('of the worker show its steps by outcome and its calls to the provider by status', async () => {
    const { body } = await createHttp(`http://127.0.0.1:${workerPort}`).get('/metrics');
    expect(body).toMatch(/amanah_activity_seconds_count\{activity="requestInstrument",outcome="done"\} 1/);
    expect(body).toMatch(
      /amanah_provider_request_seconds_count\{method="POST",path="\/payment_requests",status="2\d\d"\} 1/,
    );
  });

  it('are served beside the worker’s own health and readiness', async () => {
    const worker = createHttp(`http://127.0.0.1:${workerPort}`);
    expect((await worker.get('/healthz')).status).toBe(200);
    expect((await worker.get('/readyz')).body.checks).toEqual({ database: 'ok', temporal: 'ok', storage: 'ok' });
  });
});
