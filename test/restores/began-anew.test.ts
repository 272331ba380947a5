import { lookAtPayoutBatch } from '../../src/money-out/payout-batches/look-at-payout-batch.ts';
import { batchPayoutIdFor } from '../../src/shared/ids.ts';
import { reconcileOn } from '../control/reconciliation/reconcile-on.ts';
import { backUp, restore } from '../control/reconciliation/restore.ts';
import {
  batchWhen,
  buildSecondKey,
  itemsOf,
  makeBatch,
  transfersOfItems,
} from '../money-out/payout-batches/build-batches.ts';
import { buildPayer, payoutBody, payoutWhen, transfersOf } from '../money-out/payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refund, refundWhen, toBank } from '../money-out/refunds/build-refunds.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { buildOperators, decide } from '../support/decide.ts';
import { itInFull } from '../support/full.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { describePaidMeanwhile } from './paid-meanwhile.ts';

let stack: Stack;
let partner: BuiltPartner;
let payer: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPayer(stack);
  payer = await buildIndividual(stack, { balance: '100000' });
  causeId = (await buildActiveCause(stack)).id;
  await backUp(stack.owner());
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const token = () => ({ token: payer.token });
const topUp = (key: string) => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return stack.post('/v1/payments/gateway', body, { ...token(), headers: { 'idempotency-key': key } });
};
const collect = (key: string) => partner.post('/payments', { method: 'qris', amount: '50000' }, key);
const keep = (key: string) => partner.post('/instruments', { method: 'qris' }, key);
const payOut = (key: string) => partner.post('/payouts', payoutBody({ bank_account_number: '00100012131313' }), key);
const subscribe = (key: string) => {
  const body = { cause_id: causeId, amount: '1000', source_account_id: payer.accountId, interval: 'monthly' };
  return stack.post('/v1/donations/subscriptions', body, { ...token(), headers: { 'idempotency-key': key } });
};
const statusOf = async (workflowId: string) =>
  (await stack.deps.workflows.client.workflow.getHandle(workflowId).describe()).status.name;

describe('A restore to before resources were created', () => {
  it('After a restore, a retry with the same key recreates the resource under the same id', async () => {
    const requests = { topUp, collect, keep, payOut, subscribe };
    const idOf = ({ payment_order_id, id }: Record<string, string>) => payment_order_id ?? id;
    const keys = Object.fromEntries(Object.keys(requests).map((name) => [name, freshKey()]));
    const ask = async () => {
      const answers: Record<string, unknown> = {};
      for (const [name, request] of Object.entries(requests)) {
        const { status, body } = await request(keys[name] ?? '');
        answers[name] = { status, id: body.data ? idOf(body.data) : body };
      }
      return answers;
    };
    const first = await ask();
    await restore(stack.owner());
    expect(await ask()).toEqual(first);
  }, 60_000);

  it('A payout sent before a restore is found at the provider, and is not sent again', async () => {
    const key = freshKey();
    const { id } = (await partner.post('/payouts', payoutBody(), key)).body.data;
    await payoutWhen(partner, id, 'succeeded');
    await restore(stack.owner());
    expect((await partner.post('/payouts', payoutBody(), key)).body.data).toMatchObject({ id });
    await payoutWhen(partner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toHaveLength(1);
  }, 60_000);

  it('A refund sent to a bank before a restore is not sent to the wallet whose refusal was lost', async () => {
    const payment = await buildPaid(stack, partner);
    await stack.owner().execute('drop schema backup cascade');
    await backUp(stack.owner());
    await refundWhen(partner, await refund(partner, payment, { amount: '999999' }), 'failed');
    const key = freshKey();
    const ask = async () => (await askRefund(partner, payment, { amount: '20000', ...toBank() }, key)).body.data;
    const asked = await ask();
    expect(asked).toMatchObject(toBank());
    await refundWhen(partner, asked, 'succeeded');
    await restore(stack.owner());
    expect(await ask()).toMatchObject({ id: asked.id });
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({ refunds: [], transfers: [{ amount: 20_000 }] });
  }, 60_000);

  it('A refund sent to a wallet before a restore is not sent to a bank, whatever was refused since', async () => {
    const payment = await buildPaid(stack, partner);
    const late = await refund(partner, payment, { amount: '131313' });
    await eventually(
      () => atProvider(stack, late.id),
      ({ refunds }) => refunds.length === 1,
    );
    await stack.owner().execute('drop schema backup cascade');
    await backUp(stack.owner());
    const key = freshKey();
    const ask = async () => (await askRefund(partner, payment, { amount: '20000', ...toBank() }, key)).body.data;
    const asked = await ask();
    expect(asked).toMatchObject({ bank_code: null });
    await refundWhen(partner, asked, 'succeeded');
    await restore(stack.owner());
    await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: late.id, status: 'FAILED' });
    await refundWhen(partner, late, 'failed');
    expect(await ask()).toMatchObject({ id: asked.id });
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({ refunds: [{ amount: 20_000 }], transfers: [] });
  }, 60_000);

  it('A payment recreated after a restore is refunded to the wallet that paid its first request', async () => {
    await stack.owner().execute('drop schema backup cascade');
    await backUp(stack.owner());
    const [key, refundKey] = [freshKey(), freshKey()];
    const body = { method: 'ewallet', channel: 'DANA', amount: '700000' };
    const collectFromWallet = async () => (await partner.post('/payments', body, key)).body.data;
    const { id, payment_code } = await collectFromWallet();
    const paid = () =>
      eventually(
        async () => (await partner.get(`/payments/${id}`)).body.data?.status,
        (status) => status === 'succeeded',
      );
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await paid();
    const ask = async () => (await askRefund(partner, id, { amount: '20000' }, refundKey)).body.data;
    const asked = await ask();
    await refundWhen(partner, asked, 'succeeded');
    await stack.sandbox.post('/sandbox/forget-keys', {});
    await restore(stack.owner());
    expect((await collectFromWallet()).payment_code).not.toBe(payment_code);
    // Its own first poll is a minute later.
    await stack.deps.workflows.hintPartnerPayment(id);
    await paid();
    expect(await ask()).toMatchObject({ id: asked.id });
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({ refunds: [{ amount: 20_000 }], transfers: [] });
    await refundWhen(partner, await refund(partner, id, { amount: '30000' }), 'succeeded');
  }, 60_000);

  it('An instrument recreated after a restore records payments made before and after the restore', async () => {
    const key = freshKey();
    const { id, payment_code } = (await keep(key)).body.data;
    const amountsWhen = (count: number) =>
      eventually(
        async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.items,
        (items) => items.length === count,
        20_000,
      );
    await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 20_000 });
    await amountsWhen(1);
    await restore(stack.owner());
    await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 30_000 });
    await eventually(
      () => stack.em().execute<{ state: string }[]>('select state from receipts where reference = ?', [id]),
      ([receipt]) => receipt?.state === 'suspended',
    );
    expect((await keep(key)).body.data).toMatchObject({ id, payment_code });
    // Wakes it: its own first poll is a minute later.
    await stack.deps.workflows.hintPartnerInstrument(id);
    await amountsWhen(2);
  }, 60_000);

  itInFull(
    'A batch approved again after a restore sends each payout once',
    async () => {
      const approve = await buildSecondKey(stack, partner);
      const batch = await makeBatch(partner, itemsOf(12));
      await stack.owner().execute('drop schema backup cascade');
      await backUp(stack.owner());
      expect((await approve(`/payout-batches/${batch.id}/approve`)).status).toBe(200);
      await eventually(
        () => transfersOfItems(stack, [batchPayoutIdFor(batch.id, 11)]),
        ([sent]) => sent === 1,
      );
      await restore(stack.owner());
      expect((await approve(`/payout-batches/${batch.id}/approve`)).status).toBe(200);
      await batchWhen(partner, batch.id, 'completed', 30_000);
      const ids = Array.from({ length: 12 }, (_, place) => batchPayoutIdFor(batch.id, place));
      expect(await transfersOfItems(stack, ids)).toEqual(ids.map(() => 1));
    },
    90_000,
  );

  it('A batch sent before a restore can be approved again, but neither rejected nor expired', async () => {
    const second = await buildSecondKey(stack, partner);
    const { id } = await makeBatch(partner, itemsOf(2));
    await stack.owner().execute('drop schema backup cascade');
    await backUp(stack.owner());
    expect((await second(`/payout-batches/${id}/approve`)).status).toBe(200);
    await batchWhen(partner, id, 'completed', 30_000);
    await restore(stack.owner());
    await reconcileOn(stack);

    const rejection = () => second(`/payout-batches/${id}/reject`);
    const refused = {
      status: 409,
      body: { error: { code: 'PAYOUT_BATCH_DECIDED', details: { status: 'needs_approval' } } },
    };
    expect(await rejection()).toMatchObject(refused);
    const operators = await buildOperators(stack);
    const ids = [0, 1].map((place) => batchPayoutIdFor(id, place));
    for (const provider_reference of ids) {
      const booking = { kind: 'book_transfer', provider_reference };
      expect(await decide(stack, operators, booking)).toMatchObject({ status: 'carried_out' });
    }
    expect(await rejection()).toMatchObject(refused);
    await stack.owner().execute('update payout_batches set lapses_at = now() where id = ?', [id]);
    expect(await lookAtPayoutBatch(stack.em(), stack.deps.sealer, { batchId: id })).toMatchObject({
      status: 'needs_approval',
    });
    expect((await second(`/payout-batches/${id}/approve`)).status).toBe(200);
    await batchWhen(partner, id, 'completed', 30_000);
    expect(await transfersOfItems(stack, ids)).toEqual([1, 1]);
    const [loss] = await stack
      .em()
      .execute<[{ left: string }]>("select account_balance(id)::text as left from accounts where kind = 'loss'");
    expect(Number(loss.left)).toBe(0);
  }, 90_000);

  it('A workflow whose row a restore removed fails at its next activity', async () => {
    const { id } = (await collect(freshKey())).body.data;
    await restore(stack.owner());
    await stack.deps.workflows.hintPartnerPayment(id);
    await eventually(
      () => statusOf(`partner-payment/${id}`),
      (status) => status === 'FAILED',
    );
  }, 60_000);
});

describe('Money for resources that a restore removed', () => describePaidMeanwhile(() => stack));
