import { randomUUID } from 'node:crypto';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import {
  addMembers,
  balancesOf,
  buildActiveCircle,
  buildDailyCircle,
  buildMembers,
  contribute,
  contributionsOf,
  createCircle,
  eventsOf,
  heldBy,
  readCircle,
  startNow,
} from './build-circle.ts';
import { buildWindfall } from './build-windfall.ts';
import { endInterval, openNextRound } from './end-interval.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.restart());

const bca = 1;
const balances = (members: readonly BuiltUser[]) => balancesOf(stack, members);
const becomes = (as: BuiltUser, id: string, fields: object) =>
  eventually(
    () => readCircle(stack, as, id),
    (circle) => Object.entries(fields).every(([field, value]) => circle[field] === value),
    90_000,
  );
/** Contributes for all members with a key and retries a 503, because stopped requests may hold locks. */
const contributeAll = async (members: readonly BuiltUser[], id: string) => {
  for (const member of members) {
    const options = { token: member.token, headers: { 'idempotency-key': randomUUID() } };
    const ask = { saving_circle_id: id, contribution_amount: '100000' };
    const { status, body } = await eventually(
      () => stack.post('/v1/saving-circles/contribute', ask, options),
      (answer) => answer.status !== 503,
    );
    expect({ status, message: body.message }).toMatchObject({ status: 201 });
  }
};
/** Waits until a transaction has posted this circle's payments without committing. */
const untilPosted = (id: string) =>
  eventually(
    async () => {
      const [rows] = await stack.owner().execute<[{ all: number; free: number }]>(
        `with held as (select b.ctid as row from account_balances b join saving_circles c on c.holding_account_id = b.account_id
           where c.id = ?)
         select (select count(*)::int from held) as all,
           (select count(*)::int from (select from account_balances where ctid in (select row from held)
             for update skip locked) unlocked) as free`,
        [id],
      );
      return rows.all - rows.free;
    },
    (locked) => locked > 0,
  );

/** Creates a circle in its second and last round, in which each member has also paid a guarantee. */
async function lastRound() {
  const circle = await buildDailyCircle(stack, 2, { paid: 2, terms: { guarantee_percent: 50 } });
  const { id, creator } = circle;
  await becomes(creator, id, { current_turn: 2 });
  await openNextRound(stack, id);
  await becomes(creator, id, { next_round_opens_at: null });
  return circle;
}
/** Creates a circle whose second round opens next and is paid by standing orders. */
async function standingOrders() {
  const circle = await buildDailyCircle(stack, 2, { paid: 2, terms: {} });
  const { id, creator, members, memberIds } = circle;
  for (const [index, { accountId, token }] of members.entries()) {
    const path = `/v1/saving-circles/${id}/members/${memberIds[index]}/standing-order`;
    expect((await stack.put(path, { source_account_id: accountId }, { token })).status).toBe(200);
  }
  await becomes(creator, id, { current_turn: 2 });
  return circle;
}
/** Creates a circle whose first member has an order for the second; it is cancelled once the second pays. */
async function givenOrder() {
  const circle = await buildDailyCircle(stack, 2, { paid: 0, terms: {} });
  const given = { payment_id: bca, on_behalf_of: circle.memberIds[1] };
  const { body } = await contribute(stack, circle.creator, circle.id, given);
  return { ...circle, orderId: body.payment_order_id as string };
}
/** Creates a new circle and its members. */
async function joinedCircle() {
  const members = await buildMembers(stack, 2);
  const [creator] = members as [BuiltUser];
  const { id } = await createCircle(stack, creator);
  expect((await addMembers(stack, creator, id, members)).status).toBe(201);
  return { id, creator, members };
}

describe('A worker that is killed', () => {
  it('Every circle activity takes effect once when the worker is killed before or after its commit', async () => {
    const [windfall, covered, paid, posted, given, standing, last, started] = await Promise.all([
      buildWindfall(stack),
      buildDailyCircle(stack, 3, { paid: 2, terms: { on_default: 'cover', guarantee_percent: 100 } }),
      buildActiveCircle(stack, 2),
      buildActiveCircle(stack, 2),
      givenOrder(),
      standingOrders(),
      lastRound(),
      joinedCircle(),
    ]);

    await contributeAll(windfall.members.slice(1), windfall.id);
    await stack.holdAt('debit-members.debited', () => endInterval(stack, windfall.id));
    await eventually(
      () => balances([windfall.creator]),
      ([balance]) => balance === 1_000_000,
    );
    await stack.holdAt('settle-default.settled', () => endInterval(stack, covered.id));
    await eventually(
      () => heldBy(stack, covered.id),
      (amount) => amount === '100000.0000',
    );
    await stack.holdAt('end-order.cancelled', async () => {
      expect((await contribute(stack, given.members[1] as BuiltUser, given.id)).status).toBe(201);
    });
    const cancelled = 'select 1 from payment_orders where id = ? and cancelled_at is not null';
    await eventually(
      () => stack.em().execute(cancelled, [given.orderId]),
      ({ length }) => length === 1,
    );
    await stack.holdAt('pay-standing-orders.paid', () => openNextRound(stack, standing.id));
    await eventually(
      () => contributionsOf(stack, standing.id),
      (rows) => rows.some(({ turn_number }) => turn_number === 2),
    );
    await stack.holdAt('move-circle.moved', () => contributeAll(paid.members, paid.id));
    await eventually(
      () => balances([paid.creator]),
      ([balance]) => balance === 1_100_000,
    );
    await startNow(stack, started.creator, started.id);
    await eventually(
      () => readCircle(stack, started.creator, started.id),
      ({ status }) => status === 'active',
    );
    await stack.holdAt('settle-circle.posted', () => contributeAll(last.members, last.id));
    await untilPosted(last.id);
    await stack.holdAt('pay-round.posted', () => contributeAll(posted.members, posted.id));
    await untilPosted(posted.id);
    await stack.kill('worker');
    // The committed payout survives the kill; the uncommitted one is rolled back.
    expect(await balances([paid.creator, posted.creator])).toEqual([1_100_000, 900_000]);
    await stack.restart();

    await contributeAll(started.members, started.id);
    for (const { id, creator, members } of [paid, posted, started]) {
      const { members: shown } = await becomes(creator, id, { current_turn: 2 });
      expect(shown.map(({ turn_number }: { turn_number: number }) => turn_number).toSorted()).toEqual([1, 2]);
      expect(await balances(members)).toEqual([1_100_000, 900_000]);
      expect(await heldBy(stack, id)).toBe('0.0000');
      const starts = "select 1 from events where resource_id = ? and jsonb_exists(data, 'members')";
      expect(await stack.em().execute<unknown[]>(starts, [id])).toHaveLength(1);
    }
    for (const { id, creator, members } of [windfall, standing, last]) {
      await becomes(creator, id, { status: 'completed' });
      expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
      expect(await heldBy(stack, id)).toBe('0.0000');
    }
    await becomes(covered.creator, covered.id, { current_turn: 2 });
    expect(await heldBy(stack, covered.id)).toBe('100000.0000');
    // Two guarantees are held; half of each covers the missing contribution.
    expect(await balances(covered.members)).toEqual([1_100_000, 800_000, 1_000_000]);
    for (const [{ id }, late] of [
      [windfall, windfall.creator],
      [covered, covered.members[2]],
    ] as const) {
      for (const event of ['CONTRIBUTION_OVERDUE', 'MEMBER_DEFAULTED']) {
        expect(await eventsOf(stack, event, id)).toMatchObject([{ data: { user_id: late?.id } }]);
      }
    }
    await eventually(
      async () => (await stack.get(`/v1/payments/orders/${given.orderId}`, { token: given.creator.token })).body.data,
      ({ status }) => status === 'EXPIRED',
      180_000,
    );
  }, 300_000);
});

describe('An API that is killed', () => {
  it('Replacing a member and creating or cancelling a circle take effect once when the API is killed', async () => {
    const [handed, settled, heir, platform] = await Promise.all([
      buildDailyCircle(stack, 2, { paid: 2, terms: {} }),
      buildDailyCircle(stack, 2, { paid: 1, terms: { guarantee_percent: 50 } }),
      buildIndividual(stack, { balance: '1000000' }),
      buildPlatformAdmin(stack),
    ]);
    const path = `/v1/saving-circles/${handed.id}`;
    const proposal = `${path}/members/${handed.memberIds[1]}/replacements`;
    const { token } = handed.members[1] as BuiltUser;
    const { body } = await stack.post(proposal, { account_id: heir.accountId }, { token });
    const accept = () => stack.post(`${path}/replacements/${body.data.id}/accept`, {}, { token: heir.token });
    const cancel = () => stack.post(`/v1/saving-circles/${settled.id}/cancel`, undefined, { token: platform.token });
    stack.arm('settle-circle.posted=hold');
    const cancelling = expect(cancel()).rejects.toThrow();
    await untilPosted(settled.id);
    stack.arm(['settle-circle.posted=hold', 'change-circle.after=kill'].join());
    await expect(accept()).rejects.toThrow();
    await stack.api.exited;
    await cancelling;
    await stack.restart();

    expect(await accept()).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
    expect(await eventsOf(stack, 'MEMBER_REPLACED', handed.id)).toHaveLength(1);
    const place = { id: handed.memberIds[1], user_id: heir.id };
    expect((await readCircle(stack, heir, handed.id)).members[1]).toMatchObject(place);
    expect(await cancel()).toMatchObject({ status: 200, body: { data: { status: 'cancelled' } } });
    expect((await cancel()).status).toBe(400);
    expect(await balances(settled.members)).toEqual([1_000_000, 1_000_000]);

    stack.arm('create-circle.after=kill');
    await expect(createCircle(stack, heir)).rejects.toThrow();
    await stack.api.exited;
    await stack.restart();
    const { body: listed } = await stack.get('/v1/saving-circles?status=new', { token: heir.token });
    const [{ id }] = listed.saving_circles;
    expect((await addMembers(stack, heir, id, [heir])).status).toBe(201);
  }, 120_000);
});
