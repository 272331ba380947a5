import { execFile } from 'node:child_process';
import { comparePayments } from '../../../src/control/reconciliation/compare-payments.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import {
  buildPayer,
  buildUnknownPayout,
  magicAccount,
  pay,
  payoutWhen,
  settleAtProvider,
  transfersOf,
} from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { makeMonthsSince } from '../../support/make-months.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { readDifferences } from './read-differences.ts';
import { reconcileOn } from './reconcile-on.ts';
import { backUp, restore } from './restore.ts';

let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPayer(stack);
  operators = await buildOperators(stack);
  platform = operators.proposer;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const today = westernIndonesiaDay(new Date());
const reconcile = () => reconcileOn(stack);
const list = async (query = '') =>
  (await stack.get(`/v1/reconciliations?limit=100${query}`, { token: platform.token })).body.data;
const toAccount = (digits: string) => pay(partner, { bank_account_number: magicAccount(digits) });

async function topUp(payer: BuiltUser): Promise<{ payment_order_id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
}
async function collect(): Promise<{ id: string; payment_code: string }> {
  return (await partner.post('/payments', { method: 'qris', amount: '50000' }, freshKey())).body.data;
}
const collectedWhen = (id: string, status: string) =>
  eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data?.status,
    (now) => now === status,
  );
const payAtProvider = ({ payment_code }: { payment_code: string }) =>
  stack.sandbox.post('/sandbox/pay', { payment_code });
const suspendedUnder = (reference: string) =>
  eventually(
    () =>
      stack
        .em()
        .execute<{ reason: string; state: string }[]>('select reason, state from receipts where reference = ?', [
          reference,
        ]),
    (rows) => rows.length === 1,
  );
const orderWhen = (payer: BuiltUser, id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data?.status,
    (now) => now === status,
  );

/** Runs `npm run <command> -- …` on this stack. */
function runNpm(
  command: string,
  ...args: string[]
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...stack.env, NODE_NO_WARNINGS: '1' };
    execFile(process.execPath, [`src/wiring/commands/${command}.ts`, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const runReconcile = (...args: string[]) => runNpm('reconcile', ...args);
const waiting = async (kind: string) => (await readBacklog(stack.em())).find(({ what }) => what === kind);

describe('Reconciliation', () => {
  it('Reconciliation finds no difference when both sides agree', async () => {
    const succeeded = await toAccount('111111');
    const failed = await toAccount('999999');
    const refused = await toAccount('121212');
    await payoutWhen(partner, succeeded.id, 'succeeded');
    await payoutWhen(partner, failed.id, 'failed');
    await payoutWhen(partner, refused.id, 'failed');
    expect(await reconcile()).toMatchObject({ day: today, compared: 2, differences: 0, open: 0 });
    expect(await list()).toMatchObject({ items: [], total: 0 });
  });

  it('Reading reconciliations returns 403 to individuals', async () => {
    const { token } = await buildIndividual(stack);
    expect((await stack.get('/v1/reconciliations', { token })).status).toBe(403);
  });

  it('After a restore, reconciliation lists every difference and repairs what is final at the provider', async () => {
    const payer = await buildIndividual(stack);
    const waitingPayout = await toAccount('131313');
    const waitingOrder = await topUp(payer);
    const waitingPayment = await collect();
    await eventually(
      () => transfersOf(stack, waitingPayout.id),
      (transfers) => transfers.length === 1,
    );
    await backUp(stack.owner());

    // An hour of activity that the backup does not contain.
    await settleAtProvider(stack, waitingPayout.id, 'SUCCEEDED');
    await payoutWhen(partner, waitingPayout.id, 'succeeded');
    await payAtProvider(waitingOrder);
    await orderWhen(payer, waitingOrder.payment_order_id, 'PAID');
    await payAtProvider(waitingPayment);
    await collectedWhen(waitingPayment.id, 'succeeded');
    const lostPayout = await toAccount('111111');
    await payoutWhen(partner, lostPayout.id, 'succeeded');
    const lostOrder = await topUp(payer);
    await payAtProvider(lostOrder);
    await orderWhen(payer, lostOrder.payment_order_id, 'PAID');
    const lostPayment = await collect();
    await payAtProvider(lostPayment);
    await collectedWhen(lostPayment.id, 'succeeded');
    await restore(stack.owner());
    await expectChecksEmpty(stack);

    expect(await reconcile()).toMatchObject({ compared: 8, differences: 6, open: 6, resolved: 0 });
    expect((await readDifferences(stack, platform.token)).sort()).toEqual(
      [
        `payout | ${waitingPayout.id} | pending | succeeded`,
        `payout | ${lostPayout.id} |  | succeeded`,
        `payment | ${waitingOrder.payment_order_id} | WAITING_PAYMENT | succeeded`,
        `payment | ${lostOrder.payment_order_id} |  | succeeded`,
        `payment | ${waitingPayment.id} | WAITING_PAYMENT | succeeded`,
        `payment | ${lostPayment.id} |  | succeeded`,
      ].sort(),
    );
    const { items } = (await stack.get('/v1/events?event=RECONCILIATION_DIFFERENCE', { token: platform.token })).body
      .data;
    expect(items).toHaveLength(6);

    await payoutWhen(partner, waitingPayout.id, 'succeeded');
    await orderWhen(payer, waitingOrder.payment_order_id, 'PAID');
    await collectedWhen(waitingPayment.id, 'succeeded');
    // Money unknown to the restored books is in suspense, with a receipt; only the payout is left to operators.
    await Promise.all([lostOrder.payment_order_id, lostPayment.id].map((reference) => suspendedUnder(reference)));
    expect(await reconcile()).toMatchObject({ differences: 1, open: 1, resolved: 5 });
    expect(await list('&state=resolved')).toMatchObject({ total: 5 });
  }, 60_000);

  it('Reconciliation posts late and unknown money to suspense even if its callback was lost', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const payer = await buildIndividual(stack);
    const [order, payment] = [await topUp(payer), await collect()];
    const reference = newId();
    const instrument = { reference, method: 'virtual_account', channelCode: 'BCA', amount: '77000' } as const;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const nobody = await stack.deps.gateways
      .of('xendit')
      .requestInstrument({ ...instrument, expiresAt, returnUrl: stack.url });
    for (const { payment_code } of [order, payment]) await stack.sandbox.post('/sandbox/expire', { payment_code });
    await stack.deps.workflows.hintGatewayPayment(order.payment_order_id);
    await stack.deps.workflows.hintPartnerPayment(payment.id);
    await orderWhen(payer, order.payment_order_id, 'EXPIRED');
    await collectedWhen(payment.id, 'expired');
    const codes = [order.payment_code, payment.payment_code];
    if (nobody.outcome === 'accepted') codes.push(nobody.instrument.paymentCode);
    for (const payment_code of codes) await stack.sandbox.post('/sandbox/pay', { payment_code });

    const { differences: found } = await reconcile();
    expect(found).toBeGreaterThanOrEqual(3);
    for (const [under, reason] of [
      [order.payment_order_id, 'late'],
      [payment.id, 'late'],
      [reference, 'unknown'],
    ] as const) {
      expect(await suspendedUnder(under)).toMatchObject([{ reason, state: 'suspended' }]);
    }
    expect(await reconcile()).toMatchObject({ differences: found - 3, resolved: 3 });
    await stack.sandbox.put('/sandbox/faults', {});
  }, 60_000);

  it('Reconciliation lists sent payouts that the provider lacks, and an operator can explain them', async () => {
    const build = () => buildUnknownPayout(stack, partner);
    const [id, old] = await Promise.all([build(), build()]);
    const note = 'paid by hand, slip 12';
    for (const payout_id of [id, old]) {
      const paid = { kind: 'settle_payout', payout_id, outcome: 'succeeded', note };
      expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
    }
    // The date of the reservation does not matter.
    await withoutTriggers(stack, "update payouts set created_at = created_at - interval '3 days' where id = ?", [old]);
    await recountTallies(stack);
    const named = await runReconcile('--day', today, '--json');
    expect(named.status).toBe(1);
    const { items } = JSON.parse(named.stdout);
    const found = (wanted: string) => items.find(({ reference }: { reference: string }) => reference === wanted);
    for (const each of [id, old]) {
      expect(found(each)).toMatchObject({
        resource_type: 'payout',
        resource_id: each,
        ours: { status: 'succeeded', amount: '100000.0000' },
        theirs: null,
        state: 'open',
      });
    }
    const difference = found(id);
    const explanation = { kind: 'explain_difference', reconciliation_id: difference.id, note };
    expect(await propose(stack, operators, { ...explanation, note: '..' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('note') },
    });
    expect(await propose(stack, operators, explanation)).toMatchObject({
      status: 201,
      body: {
        data: {
          status: 'carried_out',
          approved_by: null,
          proposed_by: operators.proposer.id,
          evidence: { provider: null, books: { status: 'succeeded', amount: '100000.0000', state: 'open' } },
        },
      },
    });
    const explained = await list('&state=explained');
    expect(explained).toMatchObject({ total: 1, items: [{ id: difference.id, note }] });
    // The same difference found again stays explained.
    await reconcile();
    expect(await list('&state=explained')).toMatchObject({ total: 1 });
  }, 60_000);

  const senseless = [
    ['--day', westernIndonesiaDay(new Date(Date.now() + 86_400_000))],
    ['--day', 'yesterday'],
    ['--colour', 'blue'],
  ] as const;
  it.each(casesOf(senseless))('npm run reconcile rejects %s %s with status 2 and no stack trace', async (...args) => {
    const { status, stderr } = await runReconcile(...args);
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(args[0] ?? '') });
    expect(stderr).not.toContain('    at ');
  });

  const dayBefore = (days: number) => westernIndonesiaDay(new Date(Date.now() - days * 86_400_000));
  const runSchedule = (workflowId: string) =>
    stack.deps.workflows.client.workflow.execute('reconciliation', {
      workflowId,
      taskQueue: stack.deps.workflows.taskQueue,
    });

  it('Reconciliation runs as a workflow over yesterday and earlier days with open differences', async () => {
    await stack.owner().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference, state)
       values ('00000000-0000-4000-8000-0000000000aa', ?, 'payment', 'py-1', 'gone', 'open')`,
      [dayBefore(5)],
    );
    expect(await runSchedule('reconciliation-test')).toMatchObject([
      { day: dayBefore(5), compared: 0, differences: 0, resolved: 1 },
      { day: dayBefore(1), compared: 0, differences: 0, open: 0 },
    ]);
  });

  it('Reconciliation catches up on every missed day of the last 31', async () => {
    await makeMonthsSince(stack.owner(), '40 days');
    await stack.owner().execute(
      `insert into events (id, event, impact, resource_type, created_at)
       values (uuidv7(interval '-40 days'), 'RESOURCE_CREATED', 'LOW', 'user', now() - interval '40 days')`,
    );
    await stack
      .owner()
      .execute("update reconciled_days set state = 'running', finished_at = null where day = ?", [dayBefore(1)]);
    const since = (await waiting('unreconciled_days'))?.oldest?.getTime() ?? Date.now();
    expect((Date.now() - since) / 86_400_000).toBeGreaterThan(30);
    const summaries = (await runSchedule('reconciliation-missing')) as { day: string }[];
    const missing = Array.from({ length: 31 }, (_, index) => dayBefore(31 - index));
    expect(summaries.map(({ day }) => day)).toEqual(missing.filter((day) => day !== dayBefore(5)));
    // Only yesterday may have ended less than a full day ago.
    expect(await runSchedule('reconciliation-again')).toMatchObject([{ day: dayBefore(1) }]);
    expect(await waiting('unreconciled_days')).toMatchObject({ rows: 0, oldest: null });
  });

  it('Payments at the provider without a receipt are counted in the operators’ backlog', async () => {
    expect(await waiting('unreceipted_payments')).toMatchObject({ rows: 0 });
    await stack.owner().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference, theirs, state)
       values ('00000000-0000-4000-8000-0000000000bb', ?, 'payment', 'py-2', 'stray', ?::jsonb, 'open')`,
      [dayBefore(2), JSON.stringify({ status: 'succeeded', amount: '5000.0000' })],
    );
    expect(await waiting('unreceipted_payments')).toMatchObject({ rows: 1 });
  });

  itInFull('npm run verify reports an unexplained difference even if the books are in order', async () => {
    const { status, stdout } = await runNpm('verify');
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('unreceipted_payments: 1') });
    expect(stdout).toContain('The books are in order.');
    const explanation = { kind: 'explain_difference', reconciliation_id: '00000000-0000-4000-8000-0000000000bb' };
    expect((await propose(stack, operators, explanation)).status).toBe(201);
    expect((await runNpm('verify')).stdout).not.toContain('unreceipted_payments');
  });

  it('Reconciliation of a day fails while another run is in progress, until its heartbeat is stale', async () => {
    await stack.owner().execute(
      `update reconciled_days set state = 'running', taken_by = 'another', beat_at = now(), finished_at = null
         where day = ?`,
      [today],
    );
    await expect(reconcile()).rejects.toThrow('Another run is reconciling');
    await stack
      .owner()
      .execute("update reconciled_days set beat_at = now() - interval '3 minutes' where day = ?", [today]);
    expect(await reconcile()).toMatchObject({ day: today });
  });
});

describe('A payment booked under another reference', () => {
  it('A payment booked under a different reference from the one it was paid for is a difference', async () => {
    const payer = await buildIndividual(stack);
    const [paid, other] = [await topUp(payer), await topUp(payer)];
    await payAtProvider(paid);
    await orderWhen(payer, paid.payment_order_id, 'PAID');
    const [receipt] = await stack
      .em()
      .execute<[{ providerId: string; amount: string }]>(
        `select provider_payment_id as "providerId", amount from receipts where order_id = ?`,
        [paid.payment_order_id],
      );
    const record = {
      ...receipt,
      entryId: newId(),
      kind: 'payment' as const,
      status: 'succeeded' as const,
      reference: paid.payment_order_id,
    };
    const found = (reference: string) => comparePayments(stack.em(), [{ ...record, reference }]);
    expect(await found(paid.payment_order_id.toUpperCase())).toEqual([]);
    expect(await found(other.payment_order_id)).toMatchObject([
      { subject: receipt.providerId, resourceId: other.payment_order_id, ours: { status: 'applied' } },
    ]);
  });
});
