import { execFile } from 'node:child_process';
import { reconcileDay } from '../../src/reconciliation/reconcile-day.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { buildPayer, magicAccount, pay, payoutWhen, settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { backUp, restore } from './restore.ts';

let stack: Stack;
let partner: BuiltPartner;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack);
  platform = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const today = westernIndonesiaDay(new Date());
const reconcile = () =>
  reconcileDay(stack.em(), { gateway: stack.deps.gateway, workflows: stack.deps.temporal }, { day: today });
const list = async (query = '') =>
  (await stack.get(`/v1/reconciliations?limit=100${query}`, { token: platform.token })).body.data;
const differences = async () =>
  (await list('&state=open')).items.map(
    ({ resource_type, reference, ours, theirs }: Record<string, { status?: string } | null>) =>
      [resource_type, reference, ours?.status ?? null, theirs?.status ?? null].join(' | '),
  );
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
const orderWhen = (payer: BuiltUser, id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data?.status,
    (now) => now === status,
  );

/** `npm run reconcile -- …` on this stack. */
function runReconcile(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...stack.env, NODE_NO_WARNINGS: '1' };
    execFile(process.execPath, ['src/commands/reconcile.ts', ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

describe('Reconciliation', () => {
  it('finds nothing when we and the provider agree', async () => {
    const succeeded = await toAccount('111111');
    const failed = await toAccount('999999');
    const refused = await toAccount('121212');
    await payoutWhen(partner, succeeded.id, 'succeeded');
    await payoutWhen(partner, failed.id, 'failed');
    await payoutWhen(partner, refused.id, 'failed');
    expect(await reconcile()).toMatchObject({ day: today, compared: 2, differences: 0, open: 0 });
    expect(await list()).toMatchObject({ items: [], total: 0 });
  });

  it('is open to platform users only', async () => {
    const { token } = await buildIndividual(stack);
    expect((await stack.get('/v1/reconciliations', { token })).status).toBe(403);
  });

  it('names every difference of a database restored from a backup, and heals what the provider has ended', async () => {
    const payer = await buildIndividual(stack);
    const waitingPayout = await toAccount('131313');
    const waitingOrder = await topUp(payer);
    const waitingPayment = await collect();
    await eventually(
      () => transfersOf(stack, waitingPayout.id),
      (transfers) => transfers.length === 1,
    );
    await backUp(stack.em());

    // An hour of life that the backup does not know.
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
    await restore(stack.em());
    await expectChecksEmpty(stack);

    expect(await reconcile()).toMatchObject({ compared: 8, differences: 6, open: 6, resolved: 0 });
    expect((await differences()).sort()).toEqual(
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
    expect(await reconcile()).toMatchObject({ differences: 3, open: 3, resolved: 3 });
    expect(await list('&state=resolved')).toMatchObject({ total: 3 });
  }, 60_000);

  it('names what the provider has never had, and an operator explains it by the command line', async () => {
    const { id } = await toAccount('900004');
    const client = stack.deps.temporal.client;
    const note = 'paid by hand, slip 12';
    await client.workflow.getHandle(`partner-payout/${id}`).executeUpdate('settlePayout', {
      args: [{ outcome: 'succeeded', note, who: platform.id, force: true }],
    });
    const named = await runReconcile('--day', today, '--json');
    expect(named.status).toBe(1);
    const { items } = JSON.parse(named.stdout);
    const difference = items.find(({ reference }: { reference: string }) => reference === id);
    expect(difference).toMatchObject({
      resource_type: 'payout',
      resource_id: id,
      ours: { status: 'succeeded', amount: '100000.0000' },
      theirs: null,
      state: 'open',
    });
    expect((await runReconcile('--explain', difference.id, '--note', '')).status).toBe(2);
    expect((await runReconcile('--explain', difference.id, '--note', note)).status).toBe(0);
    const explained = await list('&state=explained');
    expect(explained).toMatchObject({ total: 1, items: [{ id: difference.id, note }] });
    // Met again as it was, it stays explained.
    await reconcile();
    expect(await list('&state=explained')).toMatchObject({ total: 1 });
  }, 60_000);

  it.each([
    ['--day', 'yesterday'],
    ['--explain', 'nothing'],
    ['--colour', 'blue'],
  ])('by the command line refuses %s %s with a sentence', async (...args) => {
    const { status, stderr } = await runReconcile(...args);
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(args[0] ?? '') });
    expect(stderr).not.toContain('    at ');
  });

  it('runs as a workflow: yesterday, and earlier days with open differences', async () => {
    const yesterday = westernIndonesiaDay(new Date(Date.now() - 86_400_000));
    const earlier = westernIndonesiaDay(new Date(Date.now() - 5 * 86_400_000));
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference, state)
       values ('00000000-0000-4000-8000-0000000000aa', ?, 'payment', 'py-1', 'gone', 'open')`,
      [earlier],
    );
    const summaries = await stack.deps.temporal.client.workflow.execute('reconciliation', {
      workflowId: 'reconciliation-test',
      taskQueue: stack.deps.temporal.taskQueue,
    });
    expect(summaries).toMatchObject([
      { day: earlier, compared: 0, differences: 0, resolved: 1 },
      { day: yesterday, compared: 0, differences: 0, open: 0 },
    ]);
  });
});
