import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../../activities/index.ts';
import type { Confirmation } from '../../../src/money-in/payments/payment-contract.ts';
import { allocationBatchIdFor, newId, receiptIdFor, workflowIds } from '../../../src/shared/ids.ts';
import { buildActiveCircle, contribute, readCircle } from '../../circles/build-circle.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
} from '../../money-out/payouts/build-payouts.ts';
import { balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Tests what an attacker with access to Temporal cannot do without our keys. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

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
  /** The field of the input that holds the id, and the field of money or of a person worth changing. */
  idField: string;
  changed: object;
  /** The part of the facts that holds the field, if it is nested. */
  within?: 'order';
  /** Whether the input itself holds the facts, rather than its `opening`. */
  isFlat?: boolean;
  /** Creates a resource as clients do; returns its id. */
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
      within: 'order',
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
      make: async () => {
        const { id } = await pay(await buildPayer(stack), { bank_account_number: magicAccount('131313') });
        // Its own workflow does nothing more for minutes.
        await eventually(
          () => stack.em().execute<{ last_word: string | null }[]>('select last_word from payouts where id = ?', [id]),
          ([row]) => row?.last_word === 'accepted',
        );
        return id;
      },
      lapsed: 'LAPSED',
    },
  ],
  [
    "repeated donations from someone's balance",
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
    'an allocation in a colleague’s name',
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

describe.each(kinds)(
  'An attacker with access to Temporal who opens %s',
  (_, { type, table, idField, changed, ...kind }) => {
    /** The input of an honest request, readable by everyone with access to Temporal. */
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
      expect(Object.keys(partOf(honest))).toEqual(expect.arrayContaining(Object.keys(changed)));
    }, 30_000);

    const partOf = (facts: Record<string, unknown>) => Object(kind.within ? facts[kind.within] : facts);
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
    const rowsOf = (id: string) =>
      stack.em().execute<object[]>(`select to_jsonb(t) from ${table} t where id = ?`, [id]);

    it('An attacker with access to Temporal never reuses a request’s proof under another id', async () => {
      const id = newId();
      expect(await begin(id, honest)).toEqual(kind.lapsed);
      expect(await rowsOf(id)).toEqual([]);
    });

    it('An attacker with access to Temporal never opens a request without a proof', async () => {
      const id = newId();
      const { proof: _proof, ...facts } = honest;
      expect(await begin(id, facts)).toEqual(kind.lapsed);
      expect(await rowsOf(id)).toEqual([]);
    });

    it('An attacker with access to Temporal never opens a request with forged facts, or changes its row', async () => {
      const before = await rowsOf(honestId);
      expect(before).toHaveLength(1);
      const forged = { ...partOf(honest), ...changed };
      const facts = kind.within ? { ...honest, [kind.within]: forged } : forged;
      expect(await begin(honestId, facts)).toEqual(kind.lapsed);
      expect(await rowsOf(honestId)).toEqual(before);
    });
  },
);

describe('An attacker who polls as a worker', () => {
  const invented = (amount: string) => ({
    providerPaymentId: `py-${newId()}`,
    providerPaymentMethodId: `pm-${newId()}`,
    amount,
  });

  it('An attacker who polls as a worker never settles an unpaid order with an invented payment', async () => {
    const { id: orderId, accountId } = await topUp();
    const { settlePayment } = createActivities(stack.deps);
    expect(await settlePayment({ orderId, payment: invented('54000.0000') })).toBe('WAITING_PAYMENT');
    expect(await balanceOf(stack, accountId)).toBe('0.0000');
  });

  it("An attacker who polls as a worker never settles a partner's unpaid payment with another's proof", async () => {
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

  it('An attacker who polls as a worker never excludes a circle’s member or opens its next round early', async () => {
    const { id, creator, members } = await buildActiveCircle(stack, 3, {
      round_interval: 'monthly',
      terms: { on_default: 'exclude' },
    });
    for (const member of members.slice(0, 2)) expect((await contribute(stack, member, id)).status).toBe(201);
    const before = await readCircle(stack, creator, id);
    const { moveCircle } = createActivities(stack.deps);
    const asked = { circleId: id, at: '2099-01-01T00:00:00.000Z' };
    for (const _ of [1, 2, 3, 4]) await moveCircle(asked);
    expect(await readCircle(stack, creator, id)).toEqual(before);
    expect(await moveCircle(asked)).toMatchObject({ phase: 'collecting', earlyByMs: expect.any(Number) });
  });
});

describe('An attacker with access to Temporal', () => {
  itInFull('An attacker never reverses a paid payout by forging the result of the provider query', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner);
    await payoutWhen(partner, id, 'succeeded');
    const before = await readBalance(partner);
    const { client, taskQueue } = stack.deps.workflows;
    const workflowId = workflowIds.partnerPayout(id);
    const handle = client.workflow.getHandle(workflowId);
    await eventually(
      async () => (await handle.describe()).status.name,
      (status) => status === 'COMPLETED',
    );
    await setFaults(stack, { requests: { hang_rate: 1 } });
    await client.workflow.signalWithStart('partnerPayout', {
      workflowId,
      taskQueue,
      args: [{ payoutId: id }],
      signal: 'callbackArrived',
      signalArgs: [],
    });
    const asking = await eventually(
      async () => (await handle.describe()).raw.pendingActivities ?? [],
      (pending) => pending.some(({ activityType }) => activityType?.name === 'askTransfer'),
    );
    const answer = {
      report: { said: 'reversed', providerTransferId: 'mine', failureCode: null },
      payout: { status: 'reversed', unknownSince: null, reservedAt: new Date().toISOString(), deliveryIds: [] },
    };
    await client.workflowService.respondActivityTaskCompletedById({
      namespace: 'default',
      workflowId,
      activityId: asking.find(({ activityType }) => activityType?.name === 'askTransfer')?.activityId ?? '',
      result: {
        payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(answer)) }],
      },
    });
    await eventually(
      async () => (await handle.describe()).status.name,
      (status) => status === 'COMPLETED',
    );
    await setFaults(stack, {});
    expect((await readPayout(partner, id)).status).toBe('succeeded');
    expect(await readBalance(partner)).toEqual(before);
  });

  it('An attacker never blocks a paid order’s settlement by recording other money under its receipt id', async () => {
    await setFaults(stack, { callbacks: { drop: true } });
    const [victim, other] = [await topUp(), await topUp()];
    const codeOf = async (id: string) => {
      const [row] = await stack
        .em()
        .execute<{ payment_code: string }[]>('select payment_code from payment_orders where id = ?', [id]);
      return row?.payment_code;
    };
    const payAtSandbox = async (id: string, amount?: number) =>
      (await stack.sandbox.post('/sandbox/pay', { payment_code: await codeOf(id), ...(amount && { amount }) })).body;
    const paid = await payAtSandbox(victim.id);
    const stray = await payAtSandbox(other.id, 1_000);
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.start('unmatchedReceipt', {
      workflowId: workflowIds.unmatchedReceipt(newId()),
      taskQueue,
      args: [
        {
          provider: 'xendit',
          receiptId: receiptIdFor(paid.id),
          providerPaymentId: stray.id,
          providerPaymentMethodId: stray.payment_method.id,
        },
      ],
    });
    const [receipt] = await eventually(
      () => stack.em().execute<{ id: string }[]>('select id from receipts where provider_payment_id = ?', [stray.id]),
      (rows) => rows.length === 1,
    );
    expect(receipt?.id).toBe(receiptIdFor(stray.id));
    await setFaults(stack, {});
    await stack.deps.workflows.hintGatewayPayment(victim.id);
    await eventually(
      () => balanceOf(stack, victim.accountId),
      (balance) => balance === '50000.0000',
    );
  });

  it('An attacker never makes the API refuse an executed allocation by forging its activity’s result', async () => {
    const { client } = stack.deps.workflows;
    const cause = await buildActiveCause(stack);
    const donation_ids = await buildOpenDonations(stack, await buildIndividual(stack), 2);
    const { token } = await buildSuperAdmin(stack);
    const workflowId = workflowIds.donationAllocation(allocationBatchIdFor(cause.id, donation_ids));
    const allocate = () => stack.post('/v1/donations/allocate', { donation_ids, cause_id: cause.id }, { token });
    let asked: ReturnType<typeof allocate> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from charitable_causes where id = ? for update', [cause.id]);
      asked = allocate();
      await untilLocked(stack, { text: 'charitable_causes' });
      const [pending] = (await client.workflow.getHandle(workflowId).describe()).raw.pendingActivities ?? [];
      const refused = { outcome: 'refused', cause: 'rejected', donations: {} };
      await client.workflowService.respondActivityTaskCompletedById({
        namespace: 'default',
        workflowId,
        activityId: pending?.activityId ?? '',
        result: {
          payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(refused)) }],
        },
      });
      await eventually(
        async () => (await client.workflow.getHandle(workflowId).describe()).status.name,
        (status) => status === 'COMPLETED',
      );
    });
    const { status } = (await asked) ?? {};
    const allocated = await eventually(
      () => stack.em().execute('select 1 from donation_allocations where cause_id = ?', [cause.id]),
      (rows) => rows.length === 1,
    );
    expect({ status, allocated: allocated.length }).toEqual({ status: 200, allocated: 1 });
  });

  it('An attacker never makes a seal claim to cover unsealed journals', async () => {
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.execute('sealJournals', {
      workflowId: newId(),
      taskQueue,
      args: [{ after: 'ffffffff-ffff-ffff-ffff-ffffffffffff', begunAt: null, journals: 0 }],
    });
    const untrue = await stack.em().execute(
      `select number from seals s where covers_until is not null and exists (select from journals j
         where j.created_at < s.covers_until - interval '1 minute'
           and not exists (select from seal_journals x where x.journal_id = j.id and x.seal_number <= s.number))`,
    );
    expect(untrue).toEqual([]);
    const [{ sealed }] = await stack.em().execute<[{ sealed: string }]>('select count(*) as sealed from seal_journals');
    expect(Number(sealed)).toBeGreaterThan(0);
  });

  it('An attacker never records a provider balance that was not measured', async () => {
    const { judgeClearing } = createActivities(stack.deps);
    const comparisons = () => stack.em().execute('select day from clearing_comparisons order by day');
    const before = await comparisons();
    const measured = { day: '2199-12-30', providerBalance: '0', clearingBalance: '0', booked: {} };
    await expect(judgeClearing({ ...measured, measured } as { day: string })).rejects.toThrow('judgeClearing failed');
    expect(await comparisons()).toEqual(before);
  });
});
