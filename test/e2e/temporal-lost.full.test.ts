import { buildActiveCircle, circleWhen, contribute, heldBy } from '../circles/build-circle.ts';
import { buildCause } from '../giving/causes/build-cause.ts';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutBody,
  payoutWhen,
  setFaults,
  settleAtProvider,
  transfersOf,
} from '../money-out/payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refund, refundWhen } from '../money-out/refunds/build-refunds.ts';
import {
  addBankAccount,
  ask,
  buildOwner,
  buildWaitingDisbursement,
  withdraw,
  withdrawalWhen,
} from '../money-out/withdrawals/build-withdrawals.ts';
import { type Receiver, startReceiver } from '../partners/webhooks/receiver.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../support/build.ts';
import { approve, buildOperators, decide } from '../support/decide.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let receiver: Receiver;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack({ ownTemporal: true });
  receiver = await startReceiver();
  payer = await buildIndividual(stack, { balance: '100000' });
  partner = await buildPayer(stack, { settlementDelayHours: 1, webhook: { url: receiver.url } });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await receiver.stop();
  await stack.stop();
}, 60_000);

interface Instrument {
  id: string;
  payment_code: string;
}
async function topUp(): Promise<Instrument> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
  return { id: data.payment_order_id, payment_code: data.payment_code };
}
const collect = async (): Promise<Instrument> =>
  (await partner.post('/payments', { method: 'qris', amount: '50000' }, freshKey())).body.data;
const payAtProvider = ({ payment_code }: Instrument, amount?: number) =>
  stack.sandbox.post('/sandbox/pay', { payment_code, ...(amount && { amount }) });
const rowWhen = (table: string, id: string, isRight: string) =>
  eventually(
    () => stack.em().execute<unknown[]>(`select * from ${table} where id = ? and ${isRight}`, [id]),
    (rows) => rows.length === 1,
    60_000,
  );

async function subscribe(): Promise<string> {
  const creator = await buildOrganizationAdmin(stack);
  const cause_id = await buildCause(stack, creator, await buildSuperAdmin(stack));
  const body = { cause_id, amount: '1000', source_account_id: payer.accountId, interval: 'weekly' };
  const { status, body: answer } = await stack.post('/v1/donations/subscriptions', body, { token: payer.token });
  expect(status).toBe(201);
  return answer.data.id;
}
async function suspendMoney(): Promise<string> {
  const order = await topUp();
  await payAtProvider(order, 1000);
  const [receipt] = await eventually(
    () => stack.em().execute<{ id: string }[]>('select id from receipts where reference = ?', [order.id]),
    (rows) => rows.length === 1,
  );
  return receipt?.id ?? '';
}
async function leaveDeliveryPending(paymentId: string): Promise<string> {
  const [delivery] = await eventually(
    () =>
      stack
        .em()
        .execute<{ id: string }[]>('select id from webhook_deliveries where resource_id = ? and attempts > 0', [
          paymentId,
        ]),
    (rows) => rows.length === 1,
  );
  return delivery?.id ?? '';
}

/** Makes everything due, and marks everything as checked just before the loss. */
async function letTimePass(): Promise<void> {
  const earlier = "now() - interval '1 hour'";
  for (const sql of [
    `update payment_orders set expires_at = ${earlier} where status = 'WAITING_PAYMENT'`,
    `update partner_payments set expires_at = ${earlier} where status = 'WAITING_PAYMENT'`,
    `update partner_payments set available_at = ${earlier} where status = 'PAID'`,
    `update payouts set look_again_at = ${earlier} where status = 'pending'`,
    `update saving_circle_contributions set updated_at = ${earlier}`,
    "update donation_subscriptions set started_at = started_at - interval '8 days'",
    `update receipts set received_at = ${earlier}`,
    `update webhook_deliveries set next_attempt_at = ${earlier} where status = 'pending'`,
    "update erasures set begun_at = begun_at - interval '4 days' where status = 'waiting'",
    `insert into sweep_looks select kind, id, 11, now() + interval '1 day' from (
       select 'payment_order' as kind, id from payment_orders union all select 'partner_payment', id from partner_payments
       union all select 'payout', id from payouts union all select 'saving_circle', id from saving_circles
       union all select 'donation_subscription', id from donation_subscriptions
       union all select 'receipt', id from receipts union all select 'webhook_delivery', id from webhook_deliveries) all_rows
     on conflict do nothing`,
  ]) {
    await stack.owner().execute(sql);
  }
}

async function triggerSweeps(): Promise<void> {
  const { client, taskQueue } = stack.deps.workflows;
  await client.schedule.getHandle(`${taskQueue}/sweep`).trigger();
}

describe('A Temporal that lost all its data', () => {
  it('After Temporal loses its data, the sweep completes all pending work, each payment and payout once', async () => {
    receiver.behave((response) => void response.writeHead(500).end());
    const unreleased = await collect();
    await payAtProvider(unreleased);
    await rowWhen('partner_payments', unreleased.id, "status = 'PAID'");
    const deliveryId = await leaveDeliveryPending(unreleased.id);
    const operators = await buildOperators(stack);
    const receiptId = await suspendMoney();
    const subscriptionId = await subscribe();
    const circle = await buildActiveCircle(stack, 2);
    const [first, second] = circle.members as [BuiltUser, BuiltUser];
    expect((await contribute(stack, first, circle.id)).status).toBe(201);
    const refunder = await buildPayer(stack);
    const paidId = await buildPaid(stack, refunder);
    const owner = await buildOwner(stack);
    await setFaults(stack, { callbacks: { drop: true } });
    const payout = await pay(partner, { bank_account_number: magicAccount('131313') });
    const withdrawal = await withdraw(stack, owner, { digits: '131313' });
    const refunded = await refund(refunder, paidId, { amount: '131313' });
    const [order, payment] = [await topUp(), await collect()];
    for (const { id } of [payout, withdrawal, refunded]) await rowWhen('payouts', id, "last_word = 'accepted'");

    const { id: erased } = await buildIndividual(stack);
    const { id: decisionId } = await decide(stack, operators, { kind: 'erase_person', user_id: erased });

    await stack.loseTemporal(async () => {
      await payAtProvider(order);
      await payAtProvider(payment);
      await settleAtProvider(stack, payout.id, 'SUCCEEDED');
      await settleAtProvider(stack, withdrawal.id, 'SUCCEEDED');
      await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: refunded.id, status: 'SUCCEEDED' });
      expect((await contribute(stack, second, circle.id)).status).toBe(201);
      receiver.behave((response) => void response.writeHead(200).end());
      await letTimePass();
    });
    await triggerSweeps();

    await rowWhen('payment_orders', order.id, "status = 'PAID'");
    await rowWhen('partner_payments', payment.id, "status = 'PAID'");
    await rowWhen('partner_payments', unreleased.id, 'released_at is not null');
    await payoutWhen(partner, payout.id, 'succeeded', 60_000);
    await withdrawalWhen(stack, owner, withdrawal.id, 'succeeded');
    await refundWhen(refunder, refunded, 'succeeded', 60_000);
    for (const { id } of [payout, withdrawal]) expect(await transfersOf(stack, id)).toHaveLength(1);
    expect((await atProvider(stack, refunded.id)).refunds).toHaveLength(1);
    await circleWhen(stack, first, circle.id, { current_turn: 2 });
    expect(await heldBy(stack, circle.id)).toBe('0.0000');
    await rowWhen('donation_subscriptions', subscriptionId, 'periods_paid = 2');
    await rowWhen('webhook_deliveries', deliveryId, "status = 'delivered'");
    await eventually(
      () =>
        stack
          .em()
          .execute<unknown[]>("select 1 from erasures where decision_id = ? and status = 'erased'", [decisionId]),
      (rows) => rows.length === 1,
      60_000,
    );
    // This comes before the decision, because a decision would start the workflow.
    await eventually(
      () =>
        stack.deps.workflows.client.workflow
          .getHandle(`unmatched-receipt/${receiptId}`)
          .describe()
          .catch(() => null),
      (workflow) => workflow?.status.name === 'RUNNING',
      60_000,
    );
    const credit = { kind: 'settle_receipt', receipt_id: receiptId, action: 'credit', account_id: payer.accountId };
    expect(await decide(stack, operators, credit)).toMatchObject({ status: 'carried_out' });
    // 100,000 less two periods of 1,000, plus the order and the money out of suspense.
    expect(await balanceOf(stack, payer.accountId)).toBe('149000.0000');
  }, 180_000);

  it('After Temporal loses its data, reserved money is sent once and a disbursement awaits approval', async () => {
    receiver.behave((response) => void response.writeHead(200).end());
    await setFaults(stack, {});
    const operators = [await buildOperators(stack), await buildOperators(stack)];
    const payers = await buildPayer(stack);
    const paidId = await buildPaid(stack, payers);
    const owner = await buildOwner(stack);
    const bank_account_id = await addBankAccount(stack, owner);
    const disbursed = await buildWaitingDisbursement(stack);
    stack.arm(['payout', 'withdrawal', 'refund'].map((kind) => `reserve-${kind}.after=hold`).join());
    const key = freshKey();
    const asking = [
      payers.post('/payouts', payoutBody(), key),
      ask(stack, owner, { bank_account_id, amount: '100000' }, key),
      askRefund(payers, paidId, { amount: '111111' }, freshKey()),
    ];
    const reserved = await eventually(
      () =>
        stack.em().execute<{ id: string; kind: string }[]>(
          `select id, kind from payouts p where status = 'pending' and created_at > now() - interval '1 minute'
             and not exists (select from payout_attempts a where a.payout_id = p.id) and id <> ?`,
          [disbursed.id],
        ),
      (rows) => rows.length === 3,
    );
    await stack.loseTemporal(async () => {
      stack.arm('');
      await letTimePass();
    });
    // No request was refused; a retry of one with an unknown outcome returns the outcome.
    for (const { status } of await Promise.all(asking)) expect([200, 201, 503, 504]).toContain(status);
    await triggerSweeps();
    for (const { id, kind } of reserved) {
      await rowWhen('payouts', id, "status = 'succeeded'");
      const { transfers, refunds } = await atProvider(stack, id);
      expect([kind, transfers.length + refunds.length]).toEqual([kind, 1]);
    }
    expect(await payers.post('/payouts', payoutBody(), key)).toMatchObject({ status: 200 });
    expect(new Set(reserved.map(({ kind }) => kind)).size).toBe(3);
    await rowWhen('payouts', disbursed.id, "status = 'pending'");
    expect(await transfersOf(stack, disbursed.id)).toEqual([]);
    for (const each of operators) await approve(stack, each, disbursed.decisionId);
    await withdrawalWhen(stack, disbursed.owner, disbursed.id, 'succeeded');
    expect(await transfersOf(stack, disbursed.id)).toHaveLength(1);
  }, 180_000);

  // Waits for the worker's next check of Temporal, a minute later.
  it('A worker that keeps running while Temporal loses its data still settles a paid order', async () => {
    await setFaults(stack, { callbacks: { drop: true } });
    const order = await topUp();
    await stack.loseTemporal(
      async () => {
        await payAtProvider(order);
        await letTimePass();
      },
      { workerLives: true },
    );
    await eventually(
      () => stack.em().execute<unknown[]>("select 1 from payment_orders where id = ? and status = 'PAID'", [order.id]),
      (rows) => rows.length === 1,
      240_000,
    );
  }, 300_000);
});
