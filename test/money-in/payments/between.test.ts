import { startWorker } from '../../../dev/service-parts.ts';
import { paymentOrderIdFor } from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { begun } from '../../circles/begin-circle.ts';
import { buildCause, currentAmountOf } from '../../giving/causes/build-cause.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { buildPartner, freshKey } from '../../support/partner.ts';
import { testRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let creator: BuiltUser;
let payer: BuiltUser;
let superAdmin: BuiltUser;
let worker: { stop(): Promise<unknown> } | undefined;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, sandbox: true });
  creator = await buildOrganizationAdmin(stack);
  payer = await buildIndividual(stack);
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await worker?.stop();
  await stack.stop();
});

const ask = (body: object, key: string, user = payer) =>
  stack.post('/v1/payments/gateway', body, { token: user.token, headers: { 'idempotency-key': key } });
const donation = (cause: string) => ({
  reference_type: 'charitable_cause_donate',
  reference_id: cause,
  payment_id: 1,
  amount: 50_000,
});
const topUp = (amount: number, payment_id = 1) => ({
  reference_type: 'account_top_up',
  reference_id: payer.accountId,
  payment_id,
  amount,
});
const stop = (id: string) =>
  stack.post(`/v1/charitable-causes/${id}/stop`, { reason: 'Reported as false' }, { token: superAdmin.token });
const statusOf = async (id: string) =>
  (await stack.em().execute<{ status: string }[]>('select status from payment_orders where id = ?', [id]))[0]?.status;

/** Requests a gateway payment and returns once its workflow has started; no worker runs yet. */
async function begin(body: object, user = payer) {
  const key = freshKey();
  const answer = ask(body, key, user);
  const id = paymentOrderIdFor(user.id, key);
  const handle = stack.deps.workflows.client.workflow.getHandle(`gateway-payment/${id}`);
  await eventually(
    () =>
      handle.describe().then(
        ({ status }) => status.name,
        () => 'none',
      ),
    (status) => status === 'RUNNING',
  );
  return { answer, id, handle };
}

describe('An order whose workflow starts late', () => {
  it('An order is not created if its cause is stopped or its payer suspended before its workflow runs', async () => {
    const cause = await buildCause(stack, creator, superAdmin);
    const other = await buildIndividual(stack);
    const forStopped = await begin(donation(cause));
    const bySuspended = await begin({ ...topUp(50_000), reference_id: other.accountId }, other);
    expect((await stop(cause)).status).toBe(200);
    const suspended = { status: 'suspended' };
    expect((await stack.patch(`/v1/users/${other.id}`, suspended, { token: superAdmin.token })).status).toBe(200);
    worker = await startWorker({ env: stack.env, logFile: `${testRun().directory}/between-worker.log` });
    for (const { handle } of [forStopped, bySuspended]) await handle.result();
    const { status, body } = await forStopped.answer;
    // On a slow machine the worker may start only after the requests have timed out.
    expect([
      [400, 'reference_id: the charitable cause is rejected'],
      [503, expect.any(String)],
    ]).toContainEqual([status, body.message]);
    expect([403, 503]).toContain((await bySuspended.answer).status);
    for (const { id } of [forStopped, bySuspended]) expect(await statusOf(id)).toBeUndefined();
    expect(await currentAmountOf(stack, creator, cause)).toBe(0);
  }, 60_000);
});

describe('An idempotency key for an order', () => {
  it('A retry returns its order even after the stored response was deleted; another body returns 400', async () => {
    const key = freshKey();
    const first = await ask(topUp(50_000), key);
    expect(first.status).toBe(201);
    await stack.sandbox.post('/sandbox/pay', { payment_code: first.body.data.payment_code });
    const { payment_order_id: id } = first.body.data;
    await eventually(
      () => statusOf(id),
      (status) => status === 'PAID',
    );
    const answers = () =>
      stack
        .em()
        .execute<{ answered: boolean }[]>(
          'select answer_body is not null as answered from requests where resource_id = ?',
          [id],
        );
    await forgetOldRows(stack.em());
    expect(await answers()).toEqual([{ answered: true }]);
    await stack.owner().execute("update requests set decided_at = now() - interval '31 days'");
    await forgetOldRows(stack.em());
    expect(await answers()).toEqual([{ answered: false }]);
    const other = await ask(topUp(70_000, 2), key);
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await ask(topUp(50_000), key)).toMatchObject({ status: 201, body: { data: { payment_order_id: id } } });
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
  });

  it('A retry of an order whose response was never stored returns the order’s current status', async () => {
    const key = freshKey();
    const first = await ask(topUp(50_000, 30), key);
    const { payment_order_id: id, payment_links: link } = first.body.data;
    // As if the process had died before it stored the response.
    await stack.owner().execute('update requests set answer_status = null, answer_body = null');
    await stack.sandbox.post('/sandbox/decline', { payment_code: link });
    await eventually(
      () => statusOf(id),
      (status) => status === 'FAILED',
    );
    expect(await ask(topUp(50_000, 30), key)).toMatchObject({
      status: 201,
      body: { data: { payment_order_id: id, status: 'FAILED' } },
    });
  });
});

describe('An idempotency key for a transfer', () => {
  it('A retried transfer pays once and returns the first response, even after it was deleted', async () => {
    const one = await buildIndividual(stack, { balance: '10000' });
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: one.token })).body.data;
    const key = freshKey();
    const move = () =>
      stack.post(
        `/v1/accounts/${one.accountId}/transfers`,
        { destination_account_id: pocket.id, amount: '1000' },
        { token: one.token, headers: { 'idempotency-key': key } },
      );
    const first = await move();
    expect(first).toMatchObject({ status: 201, body: { data: { new_balance: '9000.0000' } } });
    await stack.post(
      `/v1/accounts/${one.accountId}/transfers`,
      { destination_account_id: pocket.id, amount: '500' },
      { token: one.token },
    );
    await stack.owner().execute("update requests set decided_at = now() - interval '31 days'");
    await forgetOldRows(stack.em());
    const again = await move();
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await stack.post(
      `/v1/accounts/${one.accountId}/transfers`,
      { destination_account_id: pocket.id, amount: '2000' },
      { token: one.token, headers: { 'idempotency-key': key } },
    );
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await balanceOf(stack, one.accountId)).toBe('8500.0000');
  });
});

describe('An idempotency key for a first contribution with a guarantee', () => {
  it('A retried first contribution returns amount and guarantee even after its response was deleted', async () => {
    const { id, members } = await begun(stack, 2, { on_default: 'cover', guarantee_percent: 50 });
    const [payer] = members as [BuiltUser];
    const key = freshKey();
    const contribution = {
      reference_type: 'saving_circle_contribution',
      reference_id: id,
      source_account_id: payer.accountId,
      amount: 100_000,
    };
    const contribute = () =>
      stack.post('/v1/payments/balance', contribution, { token: payer.token, headers: { 'idempotency-key': key } });
    const first = await contribute();
    expect(first).toMatchObject({ status: 201, body: { data: { amount: '150000.0000', new_balance: '850000.0000' } } });
    await stack.owner().execute("update requests set decided_at = now() - interval '31 days'");
    await forgetOldRows(stack.em());
    const again = await contribute();
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await balanceOf(stack, payer.accountId)).toBe('850000.0000');
  });
});

describe('Money whose provider cost exceeds its amount', () => {
  it('Money whose provider cost exceeds its amount goes to suspense like any other', async () => {
    await stack.sandbox.put('/sandbox/costs', { payment: 3_000, transfer: 0 });
    await stack.owner().execute('update payment_channels set provider_fee_fixed = 3000 where id = 1');
    const order = (await ask(topUp(50_000), freshKey())).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
    const fees = [{ method: 'qris', fixed: '100', basis_points: 0, provider_fixed: '3000', provider_basis_points: 0 }];
    const partner = await buildPartner(stack, { fees });
    const payment = (await partner.post('/payments', { method: 'qris', amount: '1000' })).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${payment.id}`)).body.data.status,
      (status) => status === 'succeeded',
    );
    await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
    const suspended = await eventually(
      () =>
        stack
          .em()
          .execute<{ reference: string; reason: string; amount: string }[]>(
            "select reference, reason, amount from receipts where state = 'suspended' and reference in (?, ?) order by reason",
            [order.payment_order_id, payment.id],
          ),
      (rows) => rows.length === 2,
    );
    expect(suspended).toEqual([
      { reference: payment.id, reason: 'double', amount: '1000.0000' },
      { reference: order.payment_order_id, reason: 'wrong_amount', amount: '1000.0000' },
    ]);
  });
});
