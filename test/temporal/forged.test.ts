import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../activities/index.ts';
import type { Confirmation } from '../../src/payments/payment-contract.ts';
import { allocationBatchIdFor, newId, workflowIds } from '../../src/shared/ids.ts';
import { createCircle } from '../circles/build-circle.ts';
import { buildOpenDonations } from '../donations/build-donations.ts';
import { buildPayer, pay } from '../payouts/build-payouts.ts';
import { balanceOf, buildIndividual, buildSuperAdmin } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

/** What somebody can do who reaches Temporal's port, and has no key of ours. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const topUp = async () => {
  const payer = await buildIndividual(stack);
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  expect(answer.status).toBe(201);
  return { id: String(answer.body.data.payment_order_id), accountId: payer.accountId };
};
const collect = async () => {
  const partner = await buildPayer(stack);
  const body = { method: 'virtual_account', channel: 'BNI', amount: '50000' };
  const answer = await partner.post('/payments', body);
  expect(answer.body).toMatchObject({ data: { status: 'pending' } });
  return { id: String(answer.body.data.id), partner };
};

interface Kind {
  type: keyof typeof workflowIds;
  table: string;
  /** The field of the input that holds the id, and the field of money or of a person that somebody would like to change. */
  idField: string;
  changed: object;
  /** Where the facts are in the input. */
  isFlat?: boolean;
  /** Makes one as clients do; its id. */
  make(): Promise<string>;
  lapsed: unknown;
}
const kinds: [string, Kind][] = [
  [
    'a payment by the gateway',
    {
      type: 'gatewayPayment',
      table: 'payment_orders',
      idField: 'orderId',
      changed: { nominal: '1.0000' },
      make: async () => (await topUp()).id,
      lapsed: 'LAPSED',
    },
  ],
  [
    "a partner's payment",
    {
      type: 'partnerPayment',
      table: 'partner_payments',
      idField: 'paymentId',
      changed: { gross: '49999.0000' },
      make: async () => (await collect()).id,
      lapsed: 'LAPSED',
    },
  ],
  [
    "a partner's payout",
    {
      type: 'partnerPayout',
      table: 'payouts',
      idField: 'payoutId',
      changed: { net: '99999.0000' },
      make: async () => (await pay(await buildPayer(stack))).id,
      lapsed: 'LAPSED',
    },
  ],
  [
    'a saving circle',
    {
      type: 'savingCircle',
      table: 'saving_circles',
      idField: 'circleId',
      changed: { amount: '1.0000' },
      make: async () => (await createCircle(stack, await buildIndividual(stack))).id,
      lapsed: 'lapsed',
    },
  ],
  [
    "a donation from somebody's balance, again and again",
    {
      type: 'donationSubscription',
      table: 'donation_subscriptions',
      idField: 'subscriptionId',
      changed: { amount: '900000.0000' },
      make: async () => {
        const donor = await buildIndividual(stack, { balance: '1000000' });
        const body = { amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
        const { id: cause_id } = await buildActiveCause(stack);
        const answer = await stack.post('/v1/donations/subscriptions', { ...body, cause_id }, { token: donor.token });
        expect(answer.status).toBe(201);
        return answer.body.data.id;
      },
      lapsed: 'lapsed',
    },
  ],
  [
    'an allocation in the name of a colleague',
    {
      type: 'donationAllocation',
      table: 'donation_allocations',
      idField: 'batchId',
      changed: { requestedBy: newId() },
      isFlat: true,
      make: async () => {
        const cause = await buildActiveCause(stack);
        const donation_ids = await buildOpenDonations(stack, await buildIndividual(stack), 2);
        const { token } = await buildSuperAdmin(stack);
        const answer = await stack.post('/v1/donations/allocate', { donation_ids, cause_id: cause.id }, { token });
        expect(answer.status).toBe(200);
        return allocationBatchIdFor(cause.id, donation_ids);
      },
      lapsed: { outcome: 'lapsed' },
    },
  ],
];

describe.each(kinds)('Whoever reaches Temporal never begins %s', (_, { type, table, idField, changed, ...kind }) => {
  /** What an honest one was begun with, as everybody reads it there. */
  let honest: Record<string, unknown> & { proof?: unknown };
  let honestId: string;
  beforeAll(async () => {
    honestId = await kind.make();
    const { client } = stack.deps.workflows;
    const { events } = await client.workflow.getHandle(workflowIds[type](honestId)).fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const input = JSON.parse(Buffer.from(payload?.data ?? []).toString());
    honest = kind.isFlat ? input : input.opening;
    expect(honest.proof).toEqual(expect.stringMatching(/^[\w-]+\.[\w-]{43}$/));
    expect(Object.keys(honest)).toEqual(expect.arrayContaining(Object.keys(changed)));
  }, 30_000);

  const begin = (id: string, facts: object) => {
    const { client, taskQueue } = stack.deps.workflows;
    const args = [kind.isFlat ? { ...facts, [idField]: id } : { [idField]: id, opening: facts }];
    return client.workflow.execute(type, {
      workflowId: workflowIds[type](id),
      taskQueue,
      args,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
  };
  const rowsOf = (id: string) => stack.em().execute<object[]>(`select to_jsonb(t) from ${table} t where id = ?`, [id]);

  it('by what was asked for somebody else: under another id its proof is none', async () => {
    const id = newId();
    expect(await begin(id, honest)).toEqual(kind.lapsed);
    expect(await rowsOf(id)).toEqual([]);
  });

  it('without a proof', async () => {
    const id = newId();
    const { proof: _proof, ...facts } = honest;
    expect(await begin(id, facts)).toEqual(kind.lapsed);
    expect(await rowsOf(id)).toEqual([]);
  });

  it('with facts of their own, nor changes what is there', async () => {
    const before = await rowsOf(honestId);
    expect(before).toHaveLength(1);
    expect(await begin(honestId, { ...honest, ...changed })).toEqual(kind.lapsed);
    expect(await rowsOf(honestId)).toEqual(before);
  });
});

describe('Whoever takes work as a worker never settles', () => {
  const invented = (amount: string) => ({
    providerPaymentId: `py-${newId()}`,
    providerPaymentMethodId: `pm-${newId()}`,
    amount,
  });

  it('an order that nobody has paid, by a payment of their own', async () => {
    const { id: orderId, accountId } = await topUp();
    const { settlePayment } = createActivities(stack.deps);
    expect(await settlePayment({ orderId, payment: invented('54000.0000') })).toBe('WAITING_PAYMENT');
    expect(await balanceOf(stack, accountId)).toBe('0.0000');
  });

  it("a partner's payment that nobody has paid, also by the proof of another that was", async () => {
    const [paid, open] = [await collect(), await collect()];
    const { settlePartnerPayment, confirmPartnerPayment } = createActivities(stack.deps);
    const own = invented('50000.0000');
    expect(await settlePartnerPayment({ paymentId: open.id, payment: own })).toMatchObject({
      status: 'WAITING_PAYMENT',
    });
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const { payment_code } = (await paid.partner.get(`/payments/${paid.id}`)).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const said = (await new MockActivityEnvironment({ startToCloseTimeoutMs: 30_000 }).run(confirmPartnerPayment, {
      paymentId: paid.id,
    })) as Confirmation;
    if (said.outcome !== 'paid') throw new Error(`the provider says ${said.outcome}`);
    expect(await settlePartnerPayment({ paymentId: open.id, payment: said.payment })).toMatchObject({
      status: 'WAITING_PAYMENT',
    });
    expect(await settlePartnerPayment({ paymentId: paid.id, payment: said.payment })).toMatchObject({ status: 'PAID' });
    await stack.sandbox.put('/sandbox/faults', {});
  });
});
