import { findProgress } from '../../src/circles/find-progress.ts';
import { settleDefault } from '../../src/circles/settle-default.ts';
import type { CircleTerms } from '../../src/circles/terms.ts';
import { type BuiltUser, balanceOf } from '../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  balancesOf,
  buildActiveCircle,
  circleWhen,
  contribute,
  contributionsOf,
  eventsOf,
  memberIdsOf,
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

/** A circle in which all but the last have paid, and the last has ordered to. */
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
async function cancelledAtOf(orderId: string): Promise<unknown> {
  const [order] = await stack
    .em()
    .execute<{ cancelled_at: unknown }[]>('select cancelled_at from payment_orders where id = ?', [orderId]);
  return order?.cancelled_at;
}
/** Until the provider is asked what was paid of an order. */
const whenEnding = (orderId: string) => eventually(() => cancelledAtOf(orderId), Boolean);
/** An order is paid at the provider, who then does not answer; the interval ends, and much later its default is settled. */
async function defaultInSilence({ id, orderId, code }: { id: string; orderId: string; code: string }) {
  await silentlyPaid(code);
  await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true }, requests: { error_rate: 1 } });
  await endInterval(stack, id);
  await whenEnding(orderId);
  const much = new Date(Date.now() + 100 * 24 * 60 * 60 * 1000).toISOString();
  for (const _ of [1, 2]) await settleDefault(stack.em(), stack.deps, { circleId: id, at: much });
}
const statusesOf = async (id: string) => (await contributionsOf(stack, id)).map(({ status }) => status);
/** Until the default of the open round is reported: what is ordered from now on comes after it. */
const whenInDefault = (id: string) =>
  eventually(
    () => eventsOf(stack, 'MEMBER_DEFAULTED', id),
    (events) => events.length > 0,
  );
async function orderAndCancel(payer: BuiltUser, id: string, fields: object = {}) {
  const { body } = await contribute(stack, payer, id, { payment_id: bca, ...fields });
  const path = `/v1/payments/orders/${body.payment_order_id}/cancel`;
  expect((await stack.post(path, undefined, { token: payer.token })).status).toBe(200);
}
const placesOf = async (as: BuiltUser, id: string): Promise<{ excluded_turn: number | null }[]> =>
  (await readCircle(stack, as, id)).members;

describe('Before anybody is covered or excluded', () => {
  it.each([
    { on_default: 'exclude' as const, guarantee_percent: 0 },
    { on_default: 'cover' as const, guarantee_percent: 100 },
  ])('what the provider says was paid counts, under $on_default', async (terms) => {
    const { id, first, third, code } = await ordered(terms);
    await silentlyPaid(code);
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await statusesOf(id)).toEqual(['completed', 'completed', 'completed']);
    expect((await placesOf(third, id)).map(({ excluded_turn }) => excluded_turn)).toEqual([null, null, null]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
    expect(await stack.em().execute('select 1 from saving_circle_covers where saving_circle_id = ?', [id])).toEqual([]);
  });

  it('an unpaid order takes no more money, and then its member is in default', async () => {
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

  it('the round waits while the provider does not answer, and nobody is reported in default', async () => {
    const { id, first, orderId, code } = await ordered({ on_default: 'exclude' });
    await defaultInSilence({ id, orderId, code });
    expect(await findProgress(stack.em(), id)).toMatchObject({
      phase: 'collecting',
      round: { missing: 1, facts: { awaitsOrders: true, canRemedy: false, isDefaulted: false } },
    });
    await stack.sandbox.put('/sandbox/faults', {});
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await balanceOf(stack, first.accountId)).toBe('1200000.0000');
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
  }, 90_000);

  it('an order made after the provider was first asked holds nobody up, and its money goes back', async () => {
    const terms = { on_default: 'exclude' as const };
    const { id, members } = await buildActiveCircle(stack, 3, { round_interval: 'daily', terms });
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    expect((await contribute(stack, first, id)).status).toBe(201);
    const asked = await contribute(stack, second, id, { payment_id: bca });
    // A slow provider: the question takes long enough to order meanwhile.
    await stack.sandbox.put('/sandbox/faults', { requests: { delay_ms: 1_000 } });
    await endInterval(stack, id);
    await whenEnding(asked.body.payment_order_id);
    const { status, body } = await contribute(stack, third, id, { payment_id: bca });
    expect(status).toBe(201);
    await circleWhen(stack, first, id, { status: 'completed' });
    expect((await placesOf(first, id)).map(({ excluded_turn }) => excluded_turn)).toEqual([null, 1, 1]);
    expect(await cancelledAtOf(body.payment_order_id)).toBeNull();
    await stack.sandbox.put('/sandbox/faults', {});
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      (statuses) => statuses.includes('refunded'),
    );
    expect(await balanceOf(stack, third.accountId)).toBe('1100000.0000');
  }, 90_000);

  it('somebody else who keeps ordering for a member does not use up what is asked for the member', async () => {
    const terms = { on_default: 'exclude' as const };
    const { id, members } = await buildActiveCircle(stack, 3, { round_interval: 'daily', terms });
    const [first, , third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const [, , place] = await memberIdsOf(stack, id, members);
    await endInterval(stack, id);
    await whenInDefault(id);
    for (const _ of [1, 2]) await orderAndCancel(first, id, { on_behalf_of: place });
    const { body } = await contribute(stack, third, id, { payment_id: bca });
    await silentlyPaid(body.payment.payment_code);
    expect((await contribute(stack, first, id)).status).toBe(201);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect((await placesOf(first, id)).map(({ excluded_turn }) => excluded_turn)).toEqual([null, null, 1]);
    const excluded = (await readCircle(stack, first, id)).members[2];
    expect(excluded.user_id).toBe(members[1]?.id);
  });
});

describe('Before a member who has received is debited', () => {
  /** The second round of a circle of two, in which the second has paid and the first, who has received, has ordered. */
  async function received() {
    const { id, members } = await buildWindfall(stack);
    const [first, second] = members as [BuiltUser, BuiltUser];
    expect((await contribute(stack, second, id)).status).toBe(201);
    const { status, body } = await contribute(stack, first, id, { payment_id: bca });
    expect(status).toBe(201);
    return { id, first, second, orderId: body.payment_order_id as string, code: body.payment.payment_code as string };
  }
  const balances = (...members: BuiltUser[]) => balancesOf(stack, members);

  it('what the provider says was paid counts: nobody pays one round twice', async () => {
    const { id, first, second, code } = await received();
    await silentlyPaid(code);
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { status: 'completed' });
    expect(await statusesOf(id)).toEqual(['completed', 'completed', 'completed', 'completed']);
    // The first paid the second round from outside.
    expect(await balances(first, second)).toEqual([1_100_000, 1_000_000]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toEqual([]);
  });

  it('an unpaid order takes no more money, and then its member is in default and debited', async () => {
    const { id, first, second, orderId } = await received();
    await endInterval(stack, id);
    await circleWhen(stack, first, id, { status: 'completed' });
    expect((await statusesOf(id)).toSorted()).toEqual(['cancelled', ...Array(4).fill('completed')]);
    const { body } = await stack.get(`/v1/payments/orders/${orderId}`, { token: first.token });
    expect(body.data.status).toBe('EXPIRED');
    expect(await balances(first, second)).toEqual([1_000_000, 1_000_000]);
    expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toMatchObject([{ data: { user_id: first.id } }]);
  });

  it('nothing is debited while the provider does not answer', async () => {
    const { id, first, second, orderId, code } = await received();
    await defaultInSilence({ id, orderId, code });
    expect(await findProgress(stack.em(), id)).toMatchObject({
      phase: 'collecting',
      round: { missing: 1, facts: { awaitsOrders: true, isDefaulted: false } },
    });
    expect(await balances(first)).toEqual([1_100_000]);
    await stack.sandbox.put('/sandbox/faults', {});
    await circleWhen(stack, first, id, { status: 'completed' });
    expect(await balances(first, second)).toEqual([1_100_000, 1_000_000]);
  }, 90_000);
});
