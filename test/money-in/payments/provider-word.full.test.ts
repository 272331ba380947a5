import { randomUUID } from 'node:crypto';
import { atProvider } from '../../support/at-provider.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';

/** Our system concludes from the provider's statuses only what they prove. */
let stack: TimeSkippingStack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
  payer = await buildIndividual(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(() => stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } }));

const changeAtProvider = (sql: string, ...params: string[]) => atProvider(stack, sql, params);

async function open(): Promise<{ id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
  return { id: data.payment_order_id, payment_code: data.payment_code };
}
const rowOf = async (id: string) =>
  (
    await stack
      .em()
      .execute<{ status: string; settling: boolean }[]>(
        'select status, settling_since is not null as settling from payment_orders where id = ?',
        [id],
      )
  )[0];
const workflowOf = (id: string) => stack.time.client.workflow.getHandle(`gateway-payment/${id}`);
const settling = { status: 'WAITING_PAYMENT', settling: true };
const becomesSettling = (id: string) =>
  eventually(
    () => rowOf(id),
    (row) => row?.settling === true || row?.status !== 'WAITING_PAYMENT',
  );

describe('An order with an instrument at the provider', () => {
  it('An order that the provider’s list omits does not expire; once listed again, it is settled', async () => {
    const { id, payment_code } = await open();
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    changeAtProvider("update instruments set reference_id = 'hidden-' || reference_id where reference_id = ?", id);
    await stack.time.sleep('26 hours');
    expect(await becomesSettling(id)).toEqual(settling);
    await eventually(
      () => workflowOf(id).describe(),
      ({ searchAttributes }) => searchAttributes.PaymentState?.[0] === 'OPERATOR',
    );
    changeAtProvider('update instruments set reference_id = ? where reference_id = ?', id, `hidden-${id}`);
    expect(await workflowOf(id).result()).toBe('PAID');
  }, 60_000);

  itInFull(
    'An order does not expire while only its payment method shows a payment; once listed, it is settled',
    async () => {
      const { id, payment_code } = await open();
      const faults = { callbacks: { drop: true }, listing: { lag_ms: 86_400_000 } };
      await stack.sandbox.put('/sandbox/faults', faults);
      const { body: payment } = await stack.sandbox.post('/sandbox/pay', { payment_code });
      changeAtProvider(
        "update instruments set document = json_set(document, '$.status', 'REQUIRES_ACTION') where reference_id = ?",
        id,
      );
      await stack.post(
        '/v1/gateway/callbacks/xendit',
        {
          event: 'payment.succeeded',
          data: { id: payment.id, reference_id: id, payment_method: payment.payment_method },
        },
        { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
      );
      expect(await becomesSettling(id)).toEqual(settling);
      await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
      expect(await workflowOf(id).result()).toBe('PAID');
    },
    60_000,
  );
});

describe('An order whose request the provider reports as paid with nothing outstanding', () => {
  const isCompleted = `update instruments set document =
    json_set(document, '$.status', 'SUCCEEDED', '$.methodStatus', 'INACTIVE') where reference_id = ?`;

  it('An order completed by the wrong amount expires only after operators resolve that money', async () => {
    const { id, payment_code } = await open();
    await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 5_000 });
    changeAtProvider(isCompleted, id);
    await stack.time.sleep('26 hours');
    expect(await becomesSettling(id)).toEqual(settling);
    const [receipt] = await eventually(
      () =>
        stack
          .em()
          .execute<{ id: string; reason: string }[]>('select id, reason from receipts where reference = ?', [id]),
      (rows) => rows.length === 1,
    );
    expect(receipt?.reason).toBe('wrong_amount');
    const refund = { kind: 'settle_receipt', receipt_id: receipt?.id, action: 'refund' };
    expect(await decide(stack, await buildOperators(stack), refund)).toMatchObject({ status: 'carried_out' });
    expect(await workflowOf(id).result()).toBe('EXPIRED');
  }, 60_000);

  itInFull(
    'An order whose payment was voided expires at its deadline',
    async () => {
      const { id, payment_code } = await open();
      const { body: payment } = await stack.sandbox.post('/sandbox/pay', { payment_code });
      changeAtProvider(
        "update payments set document = json_set(document, '$.status', 'VOIDED') where id = ?",
        payment.id,
      );
      expect(await workflowOf(id).result()).toBe('EXPIRED');
    },
    60_000,
  );
});
