import { newId, receiptIdFor } from '../../src/shared/ids.ts';
import { reconcileOn } from '../control/reconciliation/reconcile-on.ts';
import { backUp, restore } from '../control/reconciliation/restore.ts';
import { buildPayer, readBalance, setFaults } from '../money-out/payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { buildOperators, decide, type Operators } from '../support/decide.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
let payer: BuiltUser;
let operators: Operators;

const reconcile = () => reconcileOn(stack);
const collect = async (key: string) =>
  (await partner.post('/payments', { method: 'qris', amount: '50000' }, key)).body.data;
const topUp = async (key: string) => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const headers = { 'idempotency-key': key };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token, headers })).body.data;
};
const payAtProvider = (payment_code: string) => stack.sandbox.post('/sandbox/pay', { payment_code });
const collectedWhen = (id: string, status: string) =>
  eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data,
    (payment) => payment?.status === status,
  );
const orderWhen = (id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data?.status,
    (now) => now === status,
  );
const receiptWhen = (reference: string, state: string) =>
  eventually(
    () =>
      stack
        .em()
        .execute<{ id: string; state: string }[]>('select id, state from receipts where reference = ?', [reference]),
    ([receipt]) => receipt?.state === state,
  );
const receiptWorkflow = async (id: string) =>
  (await stack.deps.workflows.client.workflow.getHandle(`unmatched-receipt/${id}`).describe()).status.name;

/** The tests run on a stack that the caller starts and stops. */
export function describePaidMeanwhile(place: () => Stack): void {
  beforeAll(async () => {
    stack = place();
    partner = await buildPayer(stack);
    payer = await buildIndividual(stack);
    operators = await buildOperators(stack);
    await stack.owner().execute('drop schema if exists backup cascade');
    await backUp(stack.owner());
  }, 60_000);
  afterEach(() => expectChecksEmpty(stack));

  it('Money paid before a restore settles a partner’s payment recreated by a retry, without a decision', async () => {
    const key = freshKey();
    const { id, payment_code } = await collect(key);
    await payAtProvider(payment_code);
    await collectedWhen(id, 'succeeded');
    await restore(stack.owner());
    await reconcile();
    const [receipt] = await receiptWhen(id, 'suspended');
    const before = await readBalance(partner);

    expect(await collect(key)).toMatchObject({ id });
    await collectedWhen(id, 'succeeded');
    expect(await receiptWhen(id, 'applied')).toHaveLength(1);
    const sum = ({ pending, available }: Record<string, string>) => Number(pending) + Number(available);
    const { net_amount } = (await partner.get(`/payments/${id}`)).body.data;
    expect(sum(await readBalance(partner)) - sum(before)).toBe(Number(net_amount));
    await eventually(
      () => receiptWorkflow(receipt?.id ?? ''),
      (status) => status === 'COMPLETED',
    );
  }, 60_000);

  it('Money paid before a restore settles an order recreated by a retry, without a decision', async () => {
    const key = freshKey();
    const { payment_order_id: id, payment_code } = await topUp(key);
    await payAtProvider(payment_code);
    await orderWhen(id, 'PAID');
    await restore(stack.owner());
    await reconcile();
    await receiptWhen(id, 'suspended');

    expect(await topUp(key)).toMatchObject({ payment_order_id: id });
    await orderWhen(id, 'PAID');
    await receiptWhen(id, 'applied');
    expect(Number(await balanceOf(stack, payer.accountId))).toBe(50_000);
  }, 60_000);

  it('Money that is being posted to suspense while its recreated payment settles is booked once', async () => {
    const key = freshKey();
    const { id, payment_code } = await collect(key);
    await restore(stack.owner());
    const before = await readBalance(partner);
    await setFaults(stack, { callbacks: { drop: true } });
    const { body: paid } = await payAtProvider(payment_code);
    await setFaults(stack, {});
    await stack.owner().transactional(async (posting) => {
      await posting.execute("select suspend_receipt(?, ?, ?, ?, ?, ?, 0, 'unknown', 'xendit')", [
        ...[newId(), receiptIdFor(paid.id), paid.id, paid.payment_method.id, id, '50000'],
      ]);
      expect(await collect(key)).toMatchObject({ id });
      await stack.deps.workflows.hintPartnerPayment(id);
      await untilLocked(stack, { text: 'apply_receipt' });
    });
    const { net_amount } = await collectedWhen(id, 'succeeded');
    expect(await receiptWhen(id, 'applied')).toHaveLength(1);
    const { available } = await readBalance(partner);
    expect(Number(available) - Number(before.available)).toBe(Number(net_amount));
  }, 60_000);

  it('If a restore removes a decision about suspense money, the money is in suspense again', async () => {
    const { id, payment_code } = await collect(freshKey());
    await restore(stack.owner());
    await payAtProvider(payment_code);
    const [receipt] = await receiptWhen(id, 'suspended');
    const refund = { kind: 'settle_receipt', receipt_id: receipt?.id, action: 'refund', note: 'refunded by hand' };
    expect(await decide(stack, operators, refund)).toMatchObject({ status: 'carried_out' });
    await restore(stack.owner());
    await reconcile();
    await receiptWhen(id, 'suspended');
    await restore(stack.owner());
    await reconcile();
    await receiptWhen(id, 'suspended');
  }, 60_000);
}
