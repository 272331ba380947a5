import { settlePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { addBankAccount, ask, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { asAStep } from '../../support/as-a-step.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildSuperAdmin } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { countDeadlocks, writeInOneShard } from '../../support/one-shard.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

const racers = isFullRun() ? 20 : 6;
/** IDR of each donation. */
const each = 20_000;

let stack: Stack;
let superAdmin: BuiltUser;
let donor: BuiltUser;
let creator: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
  await writeInOneShard(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  creator = await buildOrganizationAdmin(stack);
  donor = await buildIndividual(stack, { balance: String(3 * racers * each) });
  causeId = await buildCause(stack, creator, superAdmin);
});

const all = <T>(make: (place: number) => Promise<T>) =>
  Promise.all(Array.from({ length: racers }, (_, place) => make(place)));
/** Donates repeatedly from the donor's balance; returns the donations' ids. */
async function givenBefore(toCause?: string): Promise<string[]> {
  for (let given = 0; given < racers; given++) expect((await give(stack, donor, each, toCause)).status).toBe(201);
  const { items } = (await stack.get('/v1/donations?limit=100', { token: donor.token })).body.data;
  return items.slice(0, racers).map(({ id }: { id: string }) => id);
}
/** Opens gateway donations to the cause; returns functions that settle them. */
async function ordered(): Promise<(() => Promise<unknown>)[]> {
  const orders = await all(async () => {
    const body = { reference_type: 'charitable_cause_donate', reference_id: causeId, payment_id: 1, amount: each };
    return (await stack.post('/v1/payments/gateway', body, { token: donor.token })).body.data
      .payment_order_id as string;
  });
  const [{ total }] = await stack
    .em()
    .execute<[{ total: string }]>('select (nominal + admin_fee)::text as total from payment_orders where id = ?', [
      orders[0],
    ]);
  return orders.map((orderId) => () => {
    const payment = { providerPaymentId: `pay-${orderId}`, providerPaymentMethodId: `pm-${orderId}`, amount: total };
    return asAStep(() => settlePayment(stack.em(), { orderId, payment }, stack.deps));
  });
}
const refund = (id: string) =>
  asAClient(() => stack.post(`/v1/donations/${id}/refund`, undefined, { token: donor.token }));
const allocate = (id: string) =>
  asAClient(() =>
    stack.post('/v1/donations/allocate', { donation_ids: [id], cause_id: causeId }, { token: superAdmin.token }),
  );
async function disburseSome(): Promise<void> {
  const bank_account_id = await addBankAccount(stack, creator);
  const fields = { cause_id: causeId, purpose_note: 'Two pumps and pipes' };
  const { id } = (await ask(stack, creator, { bank_account_id, amount: String(each), ...fields })).body.data;
  await withdrawalWhen(stack, creator, id, 'succeeded');
}

it('Concurrent refunds and donations by gateway and from balances never deadlock', async () => {
  expect((await give(stack, donor, each, causeId)).status).toBe(201);
  await disburseSome();
  const [ids, settlements] = [await givenBefore(causeId), await ordered()];
  const before = await countDeadlocks(stack);
  const [settled, ...answers] = await Promise.all([
    Promise.all(settlements.map((settle) => settle())),
    Promise.all(ids.map(refund)),
    all(() => asAClient(() => give(stack, donor, each, causeId))),
  ]);
  expect(answers.map((some) => [...new Set(some.map(({ status }) => status))])).toEqual([[200], [201]]);
  expect(new Set(settled)).toEqual(new Set(['PAID']));
  expect((await countDeadlocks(stack)) - before).toBe(0);
}, 240_000);

itInFull(
  'Concurrent allocations, refunds and gateway donations of one cause never deadlock',
  async () => {
    const [ids, open, settlements] = [await givenBefore(causeId), await givenBefore(), await ordered()];
    const before = await countDeadlocks(stack);
    const [settled, ...answers] = await Promise.all([
      Promise.all(settlements.map((settle) => settle())),
      Promise.all(ids.map(refund)),
      Promise.all(open.map(allocate)),
    ]);
    expect(answers.map((some) => [...new Set(some.map(({ status }) => status))])).toEqual([[200], [200]]);
    expect(new Set(settled)).toEqual(new Set(['PAID']));
    expect((await countDeadlocks(stack)) - before).toBe(0);
  },
  240_000,
);
