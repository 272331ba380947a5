import { findProgress } from '../../src/circles/find-progress.ts';
import { moveCircle } from '../../src/circles/move-circle.ts';
import type { CircleTerms } from '../../src/circles/terms.ts';
import type { BuiltUser } from '../support/build.ts';
import { balanceOf } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  balancesOf,
  buildActiveCircle,
  circleWhen,
  contribute,
  contributionsOf,
  eventsOf,
  readCircle,
} from './build-circle.ts';
import { buildWindfall } from './build-windfall.ts';
import { endInterval } from './end-interval.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

const bca = 1;
const minute = 60_000;
const day = 24 * 60 * minute;

/** Creates a circle in which all but the last member have paid, and the last has an open order. */
async function ordered(terms: Partial<CircleTerms>) {
  const { id, members } = await buildActiveCircle(stack, 3, { round_interval: 'daily', terms });
  const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
  for (const member of [first, second]) expect((await contribute(stack, member, id)).status).toBe(201);
  const { status, body } = await contribute(stack, third, id, { payment_id: bca });
  expect(status).toBe(201);
  const orderId: string = body.payment_order_id;
  return { id, first, third, orderId, code: body.payment.payment_code as string };
}
const silentlyPaid = async (code: string) => {
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
  expect((await stack.sandbox.post('/sandbox/pay', { payment_code: code })).status).toBe(200);
};
/**
 * Pays an order without a callback, makes the provider fail, ends the grace period and runs two steps as if 100 days
 * had passed.
 */
async function defaultInSilence({ id, code }: { id: string; code: string }) {
  await silentlyPaid(code);
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true }, requests: { error_rate: 1 } });
  await endInterval(stack, id);
  const much = new Date(Date.now() + 100 * day).toISOString();
  for (const _ of [1, 2]) await moveCircle(stack.em(), stack.deps, { circleId: id, at: much });
}
const statusesOf = async (id: string) => (await contributionsOf(stack, id)).map(({ status }) => status);
const placesOf = async (as: BuiltUser, id: string): Promise<{ excluded_turn: number | null }[]> =>
  (await readCircle(stack, as, id)).members;
/** Makes the interval of the open round end in this many milliseconds. */
const dueIn = (id: string, ms: number) =>
  stack
    .owner()
    .execute('update saving_circle_rounds set due_at = ? where saving_circle_id = ?', [new Date(Date.now() + ms), id]);
async function livesOf(orderId: string): Promise<number> {
  const [order] = await stack
    .em()
    .execute<{ lives: number }[]>(
      'select extract(epoch from expires_at - created_at)::float * 1000 as lives from payment_orders where id = ?',
      [orderId],
    );
  return order?.lives ?? Number.NaN;
}

describe('An order for a contribution', () => {
  it('A contribution order expires with the grace period; none is accepted in its last minutes or later', async () => {
    const terms = { on_default: 'exclude' as const, grace_days: 1 };
    const { id, members } = await buildActiveCircle(stack, 2, { round_interval: 'daily', terms });
    const [first, second] = members as [BuiltUser, BuiltUser];
    await dueIn(id, 60 * minute - day);
    const { body } = await contribute(stack, first, id, { payment_id: bca });
    expect(Math.abs((await livesOf(body.payment_order_id)) - 60 * minute)).toBeLessThan(2 * minute);
    const refused = [400, expect.stringMatching(/^payment_id: the grace period/)];
    for (const ms of [9 * minute, -minute]) {
      await dueIn(id, ms - day);
      const answer = await contribute(stack, second, id, { payment_id: bca });
      expect([answer.status, answer.body.message]).toEqual(refused);
    }
    expect(await statusesOf(id)).toEqual(['pending']);
    await dueIn(id, 9 * minute - day);
    expect((await contribute(stack, second, id)).status).toBe(201);
  });

  it('A contribution order is valid for 24 hours in a circle without terms, even past the interval', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2, { round_interval: 'daily' });
    await dueIn(id, minute);
    const { body } = await contribute(stack, creator, id, { payment_id: bca });
    expect(await livesOf(body.payment_order_id)).toBe(day);
  });

  it('Under `wait`, contribution orders are accepted again after the default was reported', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2, { round_interval: 'daily', terms: {} });
    await endInterval(stack, id);
    await eventually(
      () => eventsOf(stack, 'MEMBER_DEFAULTED', id),
      (events) => events.length === 2,
    );
    const { status, body } = await contribute(stack, creator, id, { payment_id: bca });
    expect([status, await livesOf(body.payment_order_id)]).toEqual([201, day]);
  });
});

describe('An order that is open at the end of the grace period', () => {
  itInFull.each([
    { on_default: 'exclude' as const, guarantee_percent: 0 },
    { on_default: 'cover' as const, guarantee_percent: 100 },
  ])('A paid order counts before anyone is covered or excluded, under $on_default', async (terms) => {
    const { id, first, third, code } = await ordered(terms);
    await silentlyPaid(code);
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await statusesOf(id)).toEqual(['completed', 'completed', 'completed']);
    expect((await placesOf(third, id)).map(({ excluded_turn }) => excluded_turn)).toEqual([null, null, null]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
    expect(await stack.em().execute('select 1 from saving_circle_covers where saving_circle_id = ?', [id])).toEqual([]);
  });

  it('An unpaid order expires here and at the provider before its member is in default', async () => {
    const { id, first, third, orderId } = await ordered({ on_default: 'exclude' });
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await statusesOf(id)).toEqual(['completed', 'completed', 'cancelled']);
    const { body } = await stack.get(`/v1/payments/orders/${orderId}`, { token: third.token });
    expect(body.data.status).toBe('EXPIRED');
    const { body: records } = await stack.sandbox.get('/sandbox/records');
    expect(
      records.payments.find(({ reference_id }: { reference_id: string }) => reference_id === orderId),
    ).toMatchObject({ status: 'EXPIRED' });
    expect((await placesOf(first, id)).map(({ excluded_turn }) => excluded_turn)).toEqual([null, null, 1]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toMatchObject([{ data: { user_id: third.id } }]);
  });

  it('A round waits while the provider fails, and nobody is reported in default', async () => {
    const { id, first, code } = await ordered({ on_default: 'exclude' });
    await defaultInSilence({ id, code });
    expect(await findProgress(stack.em(), id)).toMatchObject({
      phase: 'collecting',
      round: { missing: 1, facts: { hasOrders: true, isDefaulted: false } },
    });
    await stack.sandbox.put('/sandbox/faults', {});
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await balanceOf(stack, first.accountId)).toBe('1200000.0000');
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
  }, 90_000);
});

describe('An open order of a member who has received the pot', () => {
  /**
   * Creates a circle of two in its second round, in which the second member has paid and the first, who has received
   * the pot, has an open order.
   */
  async function received() {
    const { id, members } = await buildWindfall(stack);
    const [first, second] = members as [BuiltUser, BuiltUser];
    expect((await contribute(stack, second, id)).status).toBe(201);
    const { status, body } = await contribute(stack, first, id, { payment_id: bca });
    expect(status).toBe(201);
    return { id, first, second, orderId: body.payment_order_id as string, code: body.payment.payment_code as string };
  }
  const balances = (...members: BuiltUser[]) => balancesOf(stack, members);

  itInFull('A paid order counts before a member who received the pot is debited', async () => {
    const { id, first, second, code } = await received();
    await silentlyPaid(code);
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { status: 'completed' });
    expect(await statusesOf(id)).toEqual(['completed', 'completed', 'completed', 'completed']);
    // The first member paid the second round from outside.
    expect(await balances(first, second)).toEqual([1_100_000, 1_000_000]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
  });

  itInFull('An unpaid order expires before its member is in default and debited', async () => {
    const { id, first, second, orderId } = await received();
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { status: 'completed' });
    expect((await statusesOf(id)).toSorted()).toEqual(['cancelled', ...Array(4).fill('completed')]);
    const { body } = await stack.get(`/v1/payments/orders/${orderId}`, { token: first.token });
    expect(body.data.status).toBe('EXPIRED');
    expect(await balances(first, second)).toEqual([1_000_000, 1_000_000]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toMatchObject([{ data: { user_id: first.id } }]);
  });
});
