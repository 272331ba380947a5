import { randomUUID } from 'node:crypto';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { sweepReceipts } from '../../../src/money-in/callbacks/sweep-receipts.ts';
import { closePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { carryOut } from '../../../src/money-out/decisions/carry-out.ts';
import { newId, receiptIdFor } from '../../../src/shared/ids.ts';
import { subtractMoney } from '../../../src/shared/money.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { atProvider } from '../../support/at-provider.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct } from '../../support/build-targets.ts';
import { approve, buildOperators, decide, type Operators, plantDecision, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { buildPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
  await stack.sandbox.put('/sandbox/faults', {});
});

async function topUp(): Promise<{ payment_order_id: string; payment_code: string; transaction_id: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

const statusOf = async (id: string) =>
  (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;
const paid = (id: string) =>
  eventually(
    () => statusOf(id),
    (status) => status === 'PAID',
  );
const pay = (order: { payment_code: string }, amount?: number) =>
  stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, ...(amount && { amount }) });

interface ReceiptRow {
  id: string;
  reason: string | null;
  state: string;
  amount: string;
}
const receiptsOf = (reference: string) =>
  stack
    .em()
    .execute<ReceiptRow[]>('select id, reason, state, amount from receipts where reference = ? order by state', [
      reference,
    ]);
const suspendedUnder = async (reference: string): Promise<ReceiptRow> => {
  const rows = await eventually(
    () => receiptsOf(reference),
    (found) => found.some(({ state }) => state === 'suspended'),
  );
  const receipt = rows.find(({ state }) => state === 'suspended');
  if (receipt === undefined) throw new Error('no receipt in suspense');
  return receipt;
};
const storedCallbacks = async () =>
  Number((await stack.em().execute<{ n: string }[]>('select count(*) as n from gateway_callbacks'))[0]?.n);

/** Returns the number of statements waiting for a lock. */
const waiting = async (): Promise<number> => {
  const rows = await stack
    .owner()
    .execute<{ count: number }[]>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
  return rows[0]?.count ?? 0;
};

/** A callback in the format that the provider sends. */
const claim = (reference: string, facts: object = {}) => ({
  event: 'payment.succeeded',
  business_id: 'business',
  created: new Date().toISOString(),
  data: {
    id: `py-${randomUUID()}`,
    payment_request_id: `pr-${randomUUID()}`,
    reference_id: reference,
    amount: 54_000,
    currency: 'IDR',
    country: 'ID',
    status: 'SUCCEEDED',
    payment_method: { id: `pm-${randomUUID()}` },
    created: new Date().toISOString(),
    updated: new Date().toISOString(),
    ...facts,
  },
});
const send = (body: unknown, headers: Record<string, string> = {}) =>
  stack.post('/v1/gateway/callbacks/xendit', body, {
    headers: { 'x-callback-token': stack.callbackToken, ...headers },
  });

describe('A callback', () => {
  it.each([
    ['with a wrong token', { 'x-callback-token': 'x'.repeat(32) }],
    ['without a token', { 'x-callback-token': '' }],
  ])('A callback %s returns 401 and is not stored', async (_, headers) => {
    const order = await topUp();
    const before = await storedCallbacks();
    const { status, body } = await send(claim(order.payment_order_id), headers);
    expect(status).toBe(401);
    expect(body).toMatchObject({ statusCode: 401, error: 'Unauthorized' });
    expect(await storedCallbacks()).toBe(before);
  });

  it('A callback with the right token but false data posts nothing', async () => {
    const order = await topUp();
    expect((await send(claim(order.payment_order_id))).status).toBe(200);
    await eventually(
      () =>
        stack
          .em()
          .execute<unknown[]>('select 1 from gateway_callbacks where reference = ? and delivered_at is not null', [
            order.payment_order_id,
          ]),
      (rows) => rows.length === 1,
    );
    await pay(order);
    await paid(order.payment_order_id);
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
    expect(await receiptsOf(order.payment_order_id)).toHaveLength(1);
  });

  it('Concurrent copies of one callback are stored once, and the payment is posted once', async () => {
    const order = await topUp();
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    await pay(order);
    const webhookId = randomUUID();
    const body = claim(order.payment_order_id);
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 100 : 15 }, () => asAClient(() => send(body, { 'webhook-id': webhookId }))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await paid(order.payment_order_id);
    const rows = await stack
      .em()
      .execute<unknown[]>('select 1 from gateway_callbacks where webhook_id = ?', [webhookId]);
    expect(rows).toHaveLength(1);
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
  });

  it('A payment is settled before the next regular query even if the provider lists it late', async () => {
    await stack.sandbox.put('/sandbox/faults', { listing: { lag_ms: 3_000 } });
    const order = await topUp();
    await pay(order);
    await paid(order.payment_order_id);
    expect(await receiptsOf(order.payment_order_id)).toMatchObject([{ state: 'applied' }]);
  });

  itInFull('A payment that the provider lists only after its order has expired goes to suspense as late', async () => {
    const order = await topUp();
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    await stack.sandbox.post('/sandbox/expire', { payment_code: order.payment_code });
    // The order is still waiting. The callback makes it query the provider, which reports the instrument as expired.
    await stack.sandbox.put('/sandbox/faults', { listing: { lag_ms: 86_400_000 } });
    await pay(order);
    await eventually(
      () => statusOf(order.payment_order_id),
      (status) => status === 'EXPIRED',
    );
    await stack.sandbox.put('/sandbox/faults', {});
    expect(await suspendedUnder(order.payment_order_id)).toMatchObject({ reason: 'late' });
  });

  it('A callback that arrives while its order is being closed starts an unmatched-receipt workflow', async () => {
    const donor = await buildIndividual(stack);
    const cause = await buildActiveCause(stack);
    const body = { reference_type: 'charitable_cause_donate', reference_id: cause.id, payment_id: 1, amount: 50_000 };
    const made = await stack.post('/v1/payments/gateway', body, { token: donor.token });
    const { payment_order_id: id } = made.body.data;
    const [row] = await stack
      .em()
      .execute<{ method: string }[]>('select provider_payment_method_id as method from payment_orders where id = ?', [
        id,
      ]);
    const paymentId = `py-${randomUUID()}`;

    const holder = stack.owner();
    await holder.begin();
    await holder.execute('select from donations where payment_order_id = ? for update', [id]);
    const close = { orderId: id, status: 'EXPIRED' as const, failureCode: null };
    const closing = closePayment(stack.em(), close, stack.deps);
    await eventually(waiting, (count) => count === 1);
    // Closing an order redelivers the callbacks already stored, but cannot see later ones.
    const data = {
      id: paymentId,
      reference_id: id,
      payment_method: { id: row?.method },
      amount: 54_000,
      status: 'SUCCEEDED',
    };
    const callback = stack.post(
      '/v1/gateway/callbacks/xendit',
      { event: 'payment.succeeded', data },
      { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
    );
    await eventually(waiting, (count) => count === 2);
    await holder.rollback();
    expect(await closing).toBe('EXPIRED');
    expect((await callback).status).toBe(200);
    const handle = stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receiptIdFor(paymentId)}`);
    await eventually(
      () =>
        handle.describe().then(
          ({ status }) => status.name,
          () => 'no case',
        ),
      (status) => status === 'RUNNING',
    );
  }, 60_000);

  it('Duplicated, shuffled and concurrent callbacks for several payments settle each payment once', async () => {
    const many = isFullRun() ? 10 : 3;
    await stack.sandbox.put('/sandbox/faults', { callbacks: { copies: many, shuffle: true } });
    const orders = await Promise.all(Array.from({ length: many }, () => topUp()));
    await Promise.all(orders.map((order) => pay(order)));
    await Promise.all(orders.map((order) => paid(order.payment_order_id)));
    expect(await balanceOf(stack, payer.accountId)).toBe(`${many * 50_000}.0000`);
    const { body } = await stack.get('/v1/transactions?limit=100', { token: payer.token });
    expect(body.data.count).toBe(2 * many);
  });
});

describe('Money that no order accepts', () => {
  it('A second payment of a paid order goes to suspense as double', async () => {
    const order = await topUp();
    await pay(order);
    await paid(order.payment_order_id);
    await pay(order);
    expect(await suspendedUnder(order.payment_order_id)).toMatchObject({ reason: 'double', amount: '54000.0000' });
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
  });

  it('A payment of the wrong amount goes to suspense, and its order stays payable', async () => {
    const order = await topUp();
    await pay(order, 1000);
    expect(await suspendedUnder(order.payment_order_id)).toMatchObject({ reason: 'wrong_amount', amount: '1000.0000' });
    expect(await statusOf(order.payment_order_id)).toBe('WAITING_PAYMENT');
    await pay(order);
    await paid(order.payment_order_id);
  });

  it('A payment with a reference that was never issued goes to suspense as unknown', async () => {
    const reference = randomUUID();
    const made = await stack.deps.gateways.of('xendit').requestInstrument({
      reference,
      method: 'virtual_account',
      channelCode: 'BNI',
      amount: '30000',
      expiresAt: new Date(Date.now() + 3_600_000),
      customer: { name: 'Nobody' },
      returnUrl: stack.url,
    });
    if (made.outcome !== 'accepted') throw new Error('the sandbox refused');
    await pay({ payment_code: made.instrument.paymentCode });
    expect(await suspendedUnder(reference)).toMatchObject({ reason: 'unknown', amount: '30000.0000' });
  });
});

describe('A decision about money in suspense', () => {
  const note = 'bank statement 2026-07, line 12';
  let operators: Operators;
  beforeAll(async () => {
    operators = await buildOperators(stack);
  });
  const about = (receipt: ReceiptRow, facts: object) => ({
    kind: 'settle_receipt',
    receipt_id: receipt.id,
    note,
    ...facts,
  });
  const suspended = async () => {
    const order = await topUp();
    await pay(order, 1000);
    return suspendedUnder(order.payment_order_id);
  };

  it('A decision about suspense money credits an account, closes the case and records who and why', async () => {
    const receipt = await suspended();
    const credit = about(receipt, { action: 'credit', account_id: payer.accountId });
    const decision = await decide(stack, operators, credit);
    expect(decision).toMatchObject({ status: 'carried_out', approved_by: operators.approver.id });
    expect(await balanceOf(stack, payer.accountId)).toBe('1000.0000');
    expect(await stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receipt.id}`).result()).toBe(
      'credited',
    );
    const events = await stack
      .em()
      .execute<{ actor_id: string; data: object }[]>(
        "select actor_id, data from events where resource_id = ? and event = 'RESOURCE_UPDATED'",
        [receipt.id],
      );
    expect(events).toMatchObject([
      {
        actor_id: operators.approver.id,
        data: { action: 'credit', note, account_id: payer.accountId, decision_id: decision.id },
      },
    ]);
  });

  it('A decision that suspense money was refunded outside the system closes the receipt as refunded', async () => {
    const receipt = await suspended();
    expect(await decide(stack, operators, about(receipt, { action: 'refund' }))).toMatchObject({
      status: 'carried_out',
    });
    expect(await balanceOf(stack, payer.accountId)).toBe('0.0000');
    expect(await receiptsOf((await referenceOf(receipt)) ?? '')).toContainEqual(
      expect.objectContaining({ id: receipt.id, state: 'refunded' }),
    );
  });

  it('A decision about suspense money completes its workflow even if the posting’s result was lost', async () => {
    const order = await topUp();
    await stack.sandbox.post('/sandbox/expire', { payment_code: order.payment_code });
    await eventually(
      () => statusOf(order.payment_order_id),
      (status) => status === 'EXPIRED',
    );
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true }, listing: { lag_ms: 86_400_000 } });
    const { body: payment } = await pay(order);
    const stray = {
      receiptId: receiptIdFor(payment.id),
      provider: 'xendit',
      providerPaymentId: payment.id,
      providerPaymentMethodId: payment.payment_method.id,
    };
    await stack.deps.workflows.openUnmatchedReceipt(stray);
    const workflow = stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${stray.receiptId}`);
    await eventually(
      async () => (await workflow.describe()).searchAttributes.PaymentState,
      (state) => JSON.stringify(state) === '["UNCONFIRMED"]',
    );
    // Posts the money like an activity whose result was lost.
    await stack
      .em()
      .execute("select suspend_receipt(?, ?, ?, ?, ?, 54000, 0, 'late', 'xendit')", [
        newId(),
        stray.receiptId,
        stray.providerPaymentId,
        stray.providerPaymentMethodId,
        order.payment_order_id,
      ]);
    const refund = { kind: 'settle_receipt', receipt_id: stray.receiptId, action: 'refund', note };
    expect(await decide(stack, operators, refund)).toMatchObject({ status: 'carried_out' });
    expect(await receiptsOf(order.payment_order_id)).toMatchObject([{ id: stray.receiptId, state: 'refunded' }]);
    await stack.sandbox.put('/sandbox/faults', {});
    expect(await workflow.result()).toBe('refunded');
  });

  it('The sweep closes a suspense case whose decision was carried out while Temporal was unreachable', async () => {
    const receipt = await suspended();
    const handle = stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receipt.id}`);
    const decision = await plantDecision(stack, operators, about(receipt, { action: 'refund' }));
    const lost = { openUnmatchedReceipt: () => Promise.reject(new Error('unreachable')) };
    const workflows = Object.assign(Object.create(stack.deps.workflows), lost);
    const decided = await carryOut(stack.em(), { ...stack.deps, workflows }, decision);
    expect(decided).toMatchObject({ status: 'carried_out' });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await withoutTriggers(stack, "update decisions set ended_at = now() - interval '2 minutes' where id = ?", [
      decision,
    ]);
    await sweepReceipts(stack.em(), stack.deps.workflows, (_, __, error) => {
      throw error;
    });
    expect(await handle.result()).toBe('refunded');
  });

  it('A suspense case closes only by an approved decision, whatever update a Temporal client sends', async () => {
    const receipt = await suspended();
    const handle = stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${receipt.id}`);
    for (const settlement of [
      { action: 'refund', note, who: operators.approver.id },
      { decision_id: randomUUID(), who: operators.approver.id },
      { decision_id: 'mine' },
      { decision_id: randomUUID() },
      undefined,
    ]) {
      await expect(handle.executeUpdate('settleReceipt', { args: [settlement] })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('decision') },
      });
    }
    const proposed = await propose(stack, operators, about(receipt, { action: 'refund' }));
    const byOne = { decision_id: proposed.body.data.id };
    expect(await handle.executeUpdate('settleReceipt', { args: [byOne] })).toBe('suspended');
    expect((await suspendedUnder((await referenceOf(receipt)) ?? '')).state).toBe('suspended');
  });

  const wrongly: [object, string][] = [
    [{ action: 'keep' }, 'action'],
    [{ action: 'credit', account_id: undefined }, 'account_id: is required'],
    [{ action: 'refund', account_id: randomUUID() }, 'account_id: is for a credit only'],
    [{ account_id: randomUUID() }, 'account_id: the account was not found'],
    [{ note: ' ' }, 'note'],
    [{ note: 'ok' }, 'note'],
    [{ note: 'x'.repeat(301) }, 'note'],
    [{ note: 'ticket\u0000 4711' }, 'note'],
    [{ proposed_by: randomUUID() }, 'proposed_by: unknown field'],
  ];

  it('A decision about suspense money with an invalid field returns 400 and names the field', async () => {
    const receipt = await suspended();
    const told: [object, string, number, string][] = [];
    for (const [wrong, complaint] of wrongly) {
      const proposal = about(receipt, { action: 'credit', account_id: payer.accountId, ...wrong });
      const { status, body } = await propose(stack, operators, proposal);
      told.push([wrong, complaint, status, body.message]);
    }
    expect(told).toEqual(
      wrongly.map(([wrong, complaint]) => [wrong, complaint, 400, expect.stringContaining(complaint)]),
    );
    expect((await suspendedUnder((await referenceOf(receipt)) ?? '')).state).toBe('suspended');
  });

  it('Suspense money can be credited only to an account whose owner can move it', async () => {
    const partner = await buildPartner(stack);
    const product = await buildProduct(stack, await buildPlatformAdmin(stack), { kind: 'investment' });
    const barred: [string, string][] = [
      ['the open donation pool', systemAccounts.openDonationPool],
      ['a saving goal', (await buildGoal(stack, payer)).accountId],
      ['a product', product.accountId],
      ['a partner’s pending account', partner.account.pending],
      ['a partner’s reserved account', partner.account.reserved],
      ['the platform’s revenue', systemAccounts.feeRevenue],
    ];
    const receipt = await suspended();
    const told: [string, number, string, string][] = [];
    for (const [name, account_id] of barred) {
      const before = await balanceOf(stack, account_id);
      const { status, body } = await propose(stack, operators, about(receipt, { action: 'credit', account_id }));
      const moved = subtractMoney(await balanceOf(stack, account_id), before);
      told.push([name, status, body.message, moved]);
    }
    const possible =
      /^account_id: .*whose owner could not move the money; possible kinds are user, organization, partner_available$/;
    expect(told).toEqual(barred.map(([name]) => [name, 400, expect.stringMatching(possible), '0.0000']));
  });

  it('A decision can credit suspense money to a partner’s available balance', async () => {
    const { account } = await buildPartner(stack);
    const credit = about(await suspended(), { action: 'credit', account_id: account.available });
    expect(await decide(stack, operators, credit)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, account.available)).toBe('1000.0000');
  });

  it('Only one decision about the same suspense money takes effect; concurrent and later ones lapse', async () => {
    const receipt = await suspended();
    const refund = about(receipt, { action: 'refund' });
    const ids = await Promise.all(
      [refund, refund].map(async (one) => (await propose(stack, operators, one)).body.data.id as string),
    );
    const answers = await Promise.all(ids.map((id) => approve(stack, operators, id)));
    expect(answers.map(({ status, body }) => [status, body.data?.status]).toSorted()).toEqual([
      [200, 'carried_out'],
      [200, 'lapsed'],
    ]);
    // A third decision, approved before the first was carried out.
    const late = await plantDecision(stack, operators, refund);
    expect(await carryOut(stack.em(), stack.deps, late)).toMatchObject({
      status: 'lapsed',
      reason: 'the receipt is now refunded',
    });
  });

  it('A decision about suspense money lapses if the provider has voided the payment', async () => {
    const receipt = await suspended();
    const proposed = await propose(stack, operators, about(receipt, { action: 'refund' }));
    expect(proposed.body.data.evidence.provider.says).toBe('succeeded');
    atProvider(stack, "update payments set document = json_set(document, '$.status', 'VOIDED') where id = ?", [
      proposed.body.data.evidence.provider.payment_id,
    ]);
    expect(await approve(stack, operators, proposed.body.data.id)).toMatchObject({
      status: 200,
      body: { data: { status: 'lapsed', reason: 'the provider has since reported the payment as voided' } },
    });
    expect((await suspendedUnder((await referenceOf(receipt)) ?? '')).state).toBe('suspended');
    // Crediting the money is no longer possible, but people can still decide that it was refunded.
    const credit = about(receipt, { action: 'credit', account_id: payer.accountId });
    expect(await propose(stack, operators, credit)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('reports the payment as voided') },
    });
    expect((await propose(stack, operators, about(receipt, { action: 'refund' }))).status).toBe(201);
  });

  const referenceOf = async ({ id }: ReceiptRow) =>
    (await stack.em().execute<{ reference: string }[]>('select reference from receipts where id = ?', [id]))[0]
      ?.reference;
});

describe('The workflow details shown to operators', () => {
  it('A payment’s workflow details show its state, kind, amount and deadline', async () => {
    const order = await topUp();
    const { client } = stack.deps.workflows;
    const handle = client.workflow.getHandle(`gateway-payment/${order.payment_order_id}`);
    const described = await eventually(
      () => handle.describe(),
      ({ searchAttributes }) => searchAttributes.PaymentState?.[0] === 'WAITING_PAYMENT',
    );
    expect(described.searchAttributes).toMatchObject({ ReferenceType: ['account_top_up'], AmountIdr: [50_000] });
    expect(await described.staticSummary()).toContain('account_top_up: IDR 50000.0000');
    const metadata: unknown = await handle.query('__temporal_workflow_metadata');
    expect(JSON.stringify(metadata)).toContain('Waiting for the payer. Deadline ');
  });
});
