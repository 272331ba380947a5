import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';

let stack: TimeSkippingStack;
let payer: BuiltUser;
let sandbox = '';
let refuses = true;
/** A provider that temporarily cannot expire payment methods, because a payment is pending. */
const proxy = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url ?? '';
  const answer = (status: number, text: string) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  };
  if (refuses && /^\/v2\/payment_methods\/[^/]+\/expire/.test(path)) {
    return answer(409, JSON.stringify({ error_code: 'INVALID_PAYMENT_METHOD_STATUS', message: 'on its way' }));
  }
  const { host: _, ...headers } = request.headers;
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
  const asked = await fetch(`${sandbox}${path}`, {
    method: request.method ?? 'GET',
    headers: headers as never,
    ...body,
  });
  const text = await asked.text();
  const isMethod = refuses && /^\/v2\/payment_methods\/[^/]+$/.test(path);
  answer(asked.status, isMethod ? text.replace(/"status":"(ACTIVE|INACTIVE|EXPIRED)"/, '"status":"PENDING"') : text);
});
beforeAll(async () => {
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  stack = await startTimeSkippingStack({ env: { XENDIT_URL: `http://127.0.0.1:${port}` } });
  sandbox = stack.sandbox.url;
  payer = await buildIndividual(stack);
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await stack.stop();
  proxy.close();
});
beforeEach(() => {
  refuses = true;
});

async function open(): Promise<{ id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
  return { id: data.payment_order_id, payment_code: data.payment_code };
}
const workflowOf = (id: string) => stack.time.client.workflow.getHandle(`gateway-payment/${id}`);

describe('An order whose instrument cannot be expired at its deadline', () => {
  it('A paid order whose instrument cannot be expired at the deadline is settled', async () => {
    const { id, payment_code } = await open();
    await stack.time.sleep('1415 minutes');
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    expect(await workflowOf(id).result()).toBe('PAID');
  }, 60_000);

  it('An unpaid order whose instrument cannot be expired goes to operators, and expires once it can', async () => {
    const { id } = await open();
    await stack.time.sleep('25 hours');
    const described = await eventually(
      () => workflowOf(id).describe(),
      ({ searchAttributes }) => searchAttributes.PaymentState?.[0] === 'OPERATOR',
    );
    expect(described.status.name).toBe('RUNNING');
    refuses = false;
    expect(await workflowOf(id).result()).toBe('EXPIRED');
  }, 60_000);
});
