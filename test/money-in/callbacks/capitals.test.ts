import { randomUUID } from 'node:crypto';
import { buildPayer, pay as payOut, payoutWhen } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** PostgreSQL finds a UUID in upper or lower case; Temporal and the provider match only one spelling. */
let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

interface Instrument {
  id: string;
  payment_code: string;
}
const rails: Record<'payment_orders' | 'partner_payments', () => Promise<Instrument>> = {
  payment_orders: async () => {
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
    const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
    return { id: data.payment_order_id, payment_code: data.payment_code };
  },
  partner_payments: async () =>
    (await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '75000' })).body.data,
};

/** Sends a callback, and waits until it is delivered. */
async function deliver(event: string, data: object): Promise<void> {
  const webhookId = randomUUID();
  await stack.post(
    '/v1/gateway/callbacks/xendit',
    { event, data },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': webhookId } },
  );
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>('select 1 from gateway_callbacks where webhook_id = ? and delivered_at is not null', [
          webhookId,
        ]),
    (rows) => rows.length > 0,
  );
}
const isStarted = (workflowId: string): Promise<boolean> =>
  stack.deps.workflows.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      () => true,
      () => false,
    );

describe('A callback whose reference is in upper case', () => {
  it.each([
    ['payment_orders', 'gateway-payment'],
    ['partner_payments', 'partner-payment'],
  ] as const)(
    'A callback with an upper-case reference from %s signals the existing workflow, which settles the payment',
    async (table, kind) => {
      await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
      const mine = await rails[table]();
      const capitals = mine.id.toUpperCase();
      const { body: payment } = await stack.sandbox.post('/sandbox/pay', { payment_code: mine.payment_code });
      await deliver('payment.succeeded', {
        id: payment.id,
        reference_id: capitals,
        payment_method: payment.payment_method,
      });
      await eventually(
        () => stack.em().execute<{ status: string }[]>(`select status from ${table} where id = ?`, [mine.id]),
        ([row]) => row?.status === 'PAID',
      );
      expect(await isStarted(`${kind}/${capitals}`)).toBe(false);
      const receipts = await stack
        .em()
        .execute<object[]>('select state from receipts where provider_payment_id = ?', [payment.id]);
      expect(receipts).toEqual([{ state: 'applied' }]);
    },
  );

  it('A callback with a payout’s reference in upper case starts no second workflow', async () => {
    const from = await buildPayer(stack);
    const { id } = await payOut(from);
    await payoutWhen(from, id, 'succeeded');
    const capitals = id.toUpperCase();
    await deliver('payout.succeeded', { id: 'disb-1', reference_id: capitals });
    expect(await isStarted(`partner-payout/${capitals}`)).toBe(false);
  });

  it.each(['hintGatewayPayment', 'hintPartnerPayment', 'hintPayout'] as const)(
    '%s with an upper-case reference starts the workflow of the lower-case one',
    async (hint) => {
      const id = randomUUID().toUpperCase();
      const { workflows } = stack.deps;
      const kinds = {
        hintGatewayPayment: 'gateway-payment',
        hintPartnerPayment: 'partner-payment',
        hintPayout: 'partner-payout',
      };
      const kind = kinds[hint];
      await (hint === 'hintPayout' ? workflows.hintPayout({ id, kind: 'partner_payout' }) : workflows[hint](id));
      expect(await isStarted(`${kind}/${id.toLowerCase()}`)).toBe(true);
      expect(await isStarted(`${kind}/${id}`)).toBe(false);
    },
  );
});
