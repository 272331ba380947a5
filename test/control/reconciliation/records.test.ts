import { findDaysToReconcile } from '../../../src/control/reconciliation/reconciled-days.ts';
import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { startOfWesternIndonesiaDay, westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import {
  buildPayer,
  generous,
  magicAccount,
  pay,
  payoutWhen,
  settleAtProvider,
  transfersOf,
} from '../../money-out/payouts/build-payouts.ts';
import { atProvider, buildPaid, refund, refundWhen, toBank } from '../../money-out/refunds/build-refunds.ts';
import { atProvider as changeAtProvider } from '../../support/at-provider.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { readDifferences } from './read-differences.ts';
import { reconcileOn } from './reconcile-on.ts';

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
let token: string;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  partner = await buildPayer(stack);
  ({ token } = await buildSuperAdmin(stack));
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const today = westernIndonesiaDay(new Date());
const dayBefore = (days: number) => westernIndonesiaDay(new Date(Date.now() - days * 86_400_000));
const yesterday = dayBefore(1);

/** Changes a payment or transfer in the provider's own file. */
function edit(table: 'payments' | 'transfers', id: string, changes: Record<string, string | number>): void {
  for (const [key, value] of Object.entries(changes)) {
    const changed = `update ${table} set document = json_set(document, '$.${key}', json(?)) where id = ?`;
    changeAtProvider(stack, changed, [JSON.stringify(value), id]);
  }
}
const transferOf = async (payoutId: string): Promise<string> => {
  const [transfer] = (await transfersOf(stack, payoutId)) as unknown as { id: string }[];
  return transfer?.id ?? '';
};

interface Order {
  payment_order_id: string;
  payment_code: string;
}
async function open(): Promise<Order> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
}
const payAtProvider = async ({ payment_code }: Order): Promise<string> =>
  (await stack.sandbox.post('/sandbox/pay', { payment_code })).body.id;
async function paid(): Promise<string> {
  const order = await open();
  const paymentId = await payAtProvider(order);
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>("select 1 from payment_orders where id = ? and status = 'PAID'", [order.payment_order_id]),
    (rows) => rows.length === 1,
  );
  return paymentId;
}
const reconcile = (day = today, by: Gateway = stack.deps.gateways.of('xendit')) => reconcileOn(stack, { day, by });
const differencesOf = (subject: string) =>
  stack.em().execute<object[]>('select state, ours, theirs from reconciliations where subject = ?', [subject]);

// These tests come first, while the provider has no other records of these days.
describe('Reconciled days', () => {
  const listNothing: Gateway['listRecords'] = async function* () {
    yield [];
  };
  const readDay = async () =>
    (await stack.em().execute<object[]>('select * from reconciled_days where day = ?', [yesterday]))[0];

  it('A day with pending records at the provider stays pending and is compared again', async () => {
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    edit('transfers', await transferOf(id), { created: `${yesterday}T05:00:00.000Z` });
    const { client, taskQueue } = stack.deps.workflows;
    const run = (name: string) =>
      client.workflow.execute('reconciliation', { workflowId: `${taskQueue}/${name}`, taskQueue });
    expect(await run('first')).toMatchObject([{ day: yesterday, differences: 0 }]);
    expect(await readDay()).toMatchObject({ state: 'pending', unsettled: 1, finished_at: expect.anything() });
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded');
    expect(await run('second')).toMatchObject([{ day: yesterday, differences: 0 }]);
    expect(await readDay()).toMatchObject({ state: 'pending', unsettled: 0 });
  }, 90_000);

  it('A day compared within a day of its end is compared again; one compared later is not', async () => {
    const lagging = { ...stack.deps.gateways.of('xendit'), listRecords: listNothing };
    const find = () => findDaysToReconcile(stack.em(), stack.deps.gateways, { at: new Date().toISOString() });
    await reconcile(dayBefore(1), lagging);
    expect(await find()).toContain(dayBefore(1));
    await reconcile(dayBefore(2), lagging);
    expect(await find()).not.toContain(dayBefore(2));
  });

  it('A day whose last run failed is compared after newer days', async () => {
    await stack.owner().execute('insert into reconciled_days (day, started_at) values (?, now())', [dayBefore(4)]);
    await stack.owner().execute("update reconciled_days set state = 'running' where day = ?", [dayBefore(4)]);
    const found = await findDaysToReconcile(stack.em(), stack.deps.gateways, { at: new Date().toISOString() });
    expect(found.slice(-2)).toEqual([dayBefore(1), dayBefore(4)]);
  });
});

describe('Records around midnight (UTC+7)', () => {
  const [before, after] = [dayBefore(3), dayBefore(2)];
  const midnight = startOfWesternIndonesiaDay(after).getTime();
  const [last, first] = [midnight - 100, midnight].map((at) => new Date(at).toISOString()) as [string, string];
  /** The dates of each record at the provider and here. */
  const sides = [last, first].flatMap((theirs) => [last, first].map((ours) => [theirs, ours] as const));

  const makePayments = () =>
    Promise.all(
      sides.map(async ([theirs, ours]) => {
        const id = await paid();
        edit('payments', id, { created: theirs });
        await withoutTriggers(stack, 'update receipts set received_at = ? where provider_payment_id = ?', [ours, id]);
        return id;
      }),
    );
  const makePayouts = () =>
    Promise.all(
      sides.map(async ([theirs, ours]) => {
        const { id } = await pay(partner);
        await payoutWhen(partner, id, 'succeeded');
        edit('transfers', await transferOf(id), { created: theirs });
        await withoutTriggers(stack, 'update payout_attempts set sent_at = ? where payout_id = ?', [ours, id]);
      }),
    );

  itInFull(
    'A record dated before midnight on one side and after it on the other is not a difference',
    async () => {
      const [payments] = await Promise.all([makePayments(), makePayouts()]);
      const summaries = [await reconcile(before), await reconcile(after)];
      expect(await readDifferences(stack, token)).toEqual([]);
      // Each of the provider's records was compared on one day only: two payments and two transfers on each.
      expect(summaries).toMatchObject([
        { compared: 4, open: 0 },
        { compared: 4, open: 0 },
      ]);

      // A record deleted by the provider is missed on the day we booked it, and on no other.
      changeAtProvider(stack, 'delete from payments where id = ?', [payments[3] ?? '']);
      expect(await reconcile(before)).toMatchObject({ open: 0 });
      expect(await reconcile(after)).toMatchObject({ open: 1 });
    },
    180_000,
  );
});

describe('Refunds', () => {
  let refunder: BuiltPartner;
  let paymentId: string;
  beforeAll(async () => {
    refunder = await buildPartner(stack, { limits: generous });
    paymentId = await buildPaid(stack, refunder);
  });

  const differences = async () => (await readDifferences(stack, token, today)).sort();

  /** Deletes a refund from the provider's own file. */
  const forget = (refundId: string) =>
    changeAtProvider(stack, 'delete from refunds where reference_id = ?', [refundId]);

  /** Refunds part of the payment to its wallet and waits for the given status. */
  async function refunded(amount: string, status: string): Promise<string> {
    const asked = await refund(refunder, paymentId, { amount });
    await refundWhen(refunder, asked, status);
    return asked.id;
  }

  it('Refunds on which both sides agree are not differences, whatever their status or route', async () => {
    const byAccount = await buildPaid(stack, refunder, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
    const byTransfer = await refund(refunder, byAccount, { amount: '20000', ...toBank() });
    await refundWhen(refunder, byTransfer, 'succeeded');
    await refunded('25000', 'succeeded');
    await refunded('999999', 'failed');
    await refunded('121212', 'failed');
    const pending = await refund(refunder, paymentId, { amount: '131313' });
    await eventually(
      () => atProvider(stack, pending.id),
      ({ refunds }) => refunds.length === 1,
    );
    // Two payments, a transfer, and the three refunds that the provider accepted.
    expect(await reconcile()).toMatchObject({ compared: 6, differences: 0, open: 0 });
    expect(await differences()).toEqual([]);
  }, 60_000);

  it('Refunds that the provider reversed, lacks, or has without our request are differences', async () => {
    const takenBack = await refunded('26000', 'succeeded');
    await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: takenBack, status: 'FAILED' });
    const forgotten = await refunded('27000', 'succeeded');
    forget(forgotten);
    const [paid] = await stack
      .em()
      .execute<[{ refund_of: string }]>(
        'select provider_payment_request_id as refund_of from partner_payments where id = ?',
        [paymentId],
      );
    const foreign = { reference: newId(), refundOf: paid.refund_of, amount: '28000.0000' };
    await stack.deps.gateways.of('xendit').requestTransfer(foreign);
    await eventually(
      () => stack.deps.gateways.of('xendit').findTransfer(foreign.reference, foreign),
      (found) => found?.status === 'succeeded',
    );
    await reconcile();
    expect(await differences()).toEqual(
      [
        `payout | ${takenBack} | succeeded | failed`,
        `payout | ${forgotten} | succeeded | `,
        `payout | ${foreign.reference} |  | succeeded`,
      ].sort(),
    );
  }, 60_000);
});

describe('A payment in our books', () => {
  const words = [
    ['FAILED', 'failed'],
    ['REVERSED', 'reversed'],
  ] as const;
  it.each(casesOf(words))(
    'A payment that the provider lists as %s is a difference',
    async (status, word) => {
      const paymentId = await paid();
      edit('payments', paymentId, { status });
      await reconcile();
      expect(await differencesOf(paymentId)).toMatchObject([
        { state: 'open', ours: { status: 'applied' }, theirs: { status: word, amount: '79000.0000' } },
      ]);
    },
    60_000,
  );

  const unlisted: [string, Record<string, string | number>, object][] = [
    ['had another amount', { amount: 5000 }, { status: 'succeeded', amount: '5000.0000' }],
    ['never succeeded', { status: 'FAILED' }, { status: 'failed', amount: '79000.0000' }],
  ];
  it.each(casesOf(unlisted))(
    'A payment in our books that according to the provider %s is a difference',
    async (_, changes, theirs) => {
      const paymentId = await paid();
      edit('payments', paymentId, { ...changes, created: '2026-01-01T00:00:00.000Z' });
      await reconcile();
      expect(await differencesOf(paymentId)).toMatchObject([{ state: 'open', theirs }]);
    },
    60_000,
  );
});

it('A payout that the provider reports as returned is a difference', async () => {
  const { id } = await pay(partner);
  await payoutWhen(partner, id, 'succeeded');
  const transfer = await transferOf(id);
  edit('transfers', transfer, { status: 'REVERSED', created: '2026-01-01T00:00:00.000Z' });
  await reconcile();
  expect(await differencesOf(transfer)).toMatchObject([
    { state: 'open', ours: { status: 'succeeded' }, theirs: { status: 'reversed' } },
  ]);
}, 60_000);

it('An unreadable record is a difference of its own and does not hide records listed after it', async () => {
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
  const [late, odd] = [await open(), await open()];
  await stack.sandbox.post('/sandbox/expire', { payment_code: late.payment_code });
  await stack.deps.workflows.hintGatewayPayment(late.payment_order_id);
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>("select 1 from payment_orders where id = ? and status = 'EXPIRED'", [
          late.payment_order_id,
        ]),
    (rows) => rows.length === 1,
  );
  const lateId = await payAtProvider(late);
  const oddId = await payAtProvider(odd);
  edit('payments', oddId, { amount: 0.12345 });
  await reconcile();
  expect(await differencesOf(oddId)).toMatchObject([
    { state: 'open', ours: null, theirs: { status: 'unreadable', amount: null } },
  ]);
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from receipts where provider_payment_id = ?', [lateId]),
    (rows) => rows.length === 1,
  );
  edit('payments', oddId, { amount: 79_000 });
  await stack.sandbox.put('/sandbox/faults', {});
}, 60_000);

it('Reconciliation books an instrument’s payments without callbacks, after closing or listed hours late', async () => {
  const change = async (faults: object) =>
    expect((await stack.sandbox.put('/sandbox/faults', faults)).status).toBe(200);
  const make = async () =>
    (await partner.post('/instruments', { method: 'virtual_account', channel: 'BCA' })).body.data;
  const payTo = async (code: string): Promise<string> =>
    (await stack.sandbox.post('/sandbox/pay', { payment_code: code, amount: 20_000 })).body.id;
  const [closed, open] = [await make(), await make()];
  expect((await partner.send('post', `/instruments/${closed.id}/close`)).body.data.status).toBe('closed');
  await change({ callbacks: { drop: true } });
  const afterClosing = await payTo(closed.payment_code);
  await change({ callbacks: { drop: true }, listing: { lag_ms: 86_400_000 } });
  const listedLate = await payTo(open.payment_code);
  const paidAt = new Date(Date.now() - 3 * 3_600_000).toISOString();
  edit('payments', listedLate, { created: paidAt });
  changeAtProvider(stack, 'update payments set created = ? where id = ?', [String(Date.parse(paidAt)), listedLate]);
  const look = async () => {
    const [{ at }] = await stack.em().execute<[{ at: string }]>('select clock_timestamp() as at');
    await stack.deps.workflows.hintPartnerInstrument(open.id);
    await eventually(
      () => stack.em().execute('select 1 from partner_instruments where id = ? and seen_until > ?', [open.id, at]),
      (rows) => rows.length > 0,
    );
  };
  await look();
  await change({});
  await look();
  for (const day of new Set([yesterday, today])) await reconcile(day);
  const receipts = await eventually(
    () =>
      stack.em().execute<{ id: string; state: string; reason: string | null }[]>(
        `select provider_payment_id as id, state, reason from receipts
         where provider_payment_id in (?, ?) order by state`,
        [afterClosing, listedLate],
      ),
    (rows) => rows.length === 2,
  );
  expect(receipts).toEqual([
    { id: listedLate, state: 'applied', reason: null },
    { id: afterClosing, state: 'suspended', reason: 'late' },
  ]);
}, 60_000);
