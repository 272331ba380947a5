import { reconcileDay } from '../../src/reconciliation/reconcile-day.ts';
import { startOfWesternIndonesiaDay, westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { buildPayer, pay, payoutWhen, transfersOf } from '../payouts/build-payouts.ts';
import { atProvider } from '../support/at-provider.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import { readDifferences } from './read-differences.ts';

/** What happens in the last moment of a day (UTC+7) at the provider may be known here in the first of the next. */
let stack: Stack;
let payer: BuiltUser;
let admin: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  payer = await buildIndividual(stack);
  admin = await buildPlatformAdmin(stack);
  partner = await buildPayer(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const dayMs = 86_400_000;
const [before, after] = [3, 2].map((days) => westernIndonesiaDay(new Date(Date.now() - days * dayMs))) as [
  string,
  string,
];
const midnight = startOfWesternIndonesiaDay(after).getTime();
const [last, first] = [midnight - 100, midnight].map((at) => new Date(at).toISOString()) as [string, string];

async function paid(): Promise<string> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const { data } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
  const { id } = (await stack.sandbox.post('/sandbox/pay', { payment_code: data.payment_code })).body;
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from receipts where provider_payment_id = ?', [id]),
    (rows) => rows.length === 1,
  );
  return id;
}
/** Dates a payment: at the provider, and here. */
async function datePayment(id: string, theirs: string, ours: string): Promise<void> {
  atProvider(stack, "update payments set document = json_set(document, '$.created', ?) where id = ?", [theirs, id]);
  await withoutTriggers(stack, 'update receipts set received_at = ? where provider_payment_id = ?', [ours, id]);
}
async function datePayout(id: string, theirs: string, ours: string): Promise<void> {
  const [transfer] = (await transfersOf(stack, id)) as unknown as [{ id: string }];
  const dated = "update transfers set document = json_set(document, '$.created', ?) where id = ?";
  atProvider(stack, dated, [theirs, transfer.id]);
  await withoutTriggers(stack, 'update payout_attempts set sent_at = ? where payout_id = ?', [ours, id]);
}
const reconcile = (day: string) => {
  const { gateway, workflows } = stack.deps;
  const failed = (...all: unknown[]) => {
    throw new Error(JSON.stringify(all));
  };
  return reconcileDay(stack.em(), { gateway, workflows, failed }, { day, takenBy: newId() });
};

it('What the provider dates on one side of midnight and we on the other is no difference of either day', async () => {
  const sides = [last, first].flatMap((theirs) => [last, first].map((ours) => [theirs, ours] as const));
  const payouts: string[] = [];
  const payments: string[] = [];
  for (const [theirs, ours] of sides) {
    payments.push(await paid());
    await datePayment(payments.at(-1) ?? '', theirs, ours);
    const { id } = await pay(partner);
    await payoutWhen(partner, id, 'succeeded');
    payouts.push(id);
    await datePayout(id, theirs, ours);
  }
  const summaries = [await reconcile(before), await reconcile(after)];
  expect(await readDifferences(stack, admin.token)).toEqual([]);
  // Each record of the provider was compared on one day: two payments and two transfers on either side.
  expect(summaries).toMatchObject([
    { compared: 4, open: 0 },
    { compared: 4, open: 0 },
  ]);

  // One that the provider has no longer is missed on the day on which we booked it, and on no other.
  atProvider(stack, 'delete from payments where id = ?', [payments[3] ?? '']);
  expect(await reconcile(before)).toMatchObject({ open: 0 });
  expect(await reconcile(after)).toMatchObject({ open: 1 });
}, 180_000);
