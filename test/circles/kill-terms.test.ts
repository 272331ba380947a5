import type { CircleTerms } from '../../src/circles/terms.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { casesOf } from '../support/full.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import {
  balancesOf,
  buildActiveCircle,
  contribute,
  eventsOf,
  heldBy,
  memberIdsOf,
  readCircle,
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

/** A daily circle with these terms, of which the first members have paid. */
async function circleOf(size: number, { paid, terms }: { paid: number; terms: Partial<CircleTerms> }) {
  const { id, members } = await buildActiveCircle(stack, size, { round_interval: 'daily', terms });
  for (const member of members.slice(0, paid)) expect((await contribute(stack, member, id)).status).toBe(201);
  return { id, members, memberIds: await memberIdsOf(stack, id, members) };
}
const balances = (members: readonly BuiltUser[]) => balancesOf(stack, members);
const becomes = (as: BuiltUser | undefined, id: string, fields: object) =>
  eventually(
    () => readCircle(stack, as as BuiltUser, id).catch(() => null),
    (circle) => Object.entries(fields).every(([field, value]) => circle?.[field] === value),
    90_000,
  );
/** Lets the worker die at this point when the interval of the open round is over, and starts it again. */
async function dieInDefault(id: string, failpoint: string): Promise<void> {
  stack.arm(`${failpoint}=kill`);
  await endInterval(stack, id);
  await stack.worker.exited;
  await stack.restart();
}
const points = ['settle-default.settled', 'pay-round.posted', 'settle-default.after', 'settle-default.before'] as const;
const cases = isFullRun()
  ? points.flatMap((failpoint) => [['cover', failpoint] as const, ['exclude', failpoint] as const])
  : ([
      ['cover', points[0]],
      ['exclude', points[1]],
    ] as const);

describe('The remedy for a default is applied once when the worker is killed', () => {
  it.each(cases)(
    'under %s at %s',
    async (on_default, failpoint) => {
      const { id, members } = await circleOf(3, { paid: 2, terms: { on_default, guarantee_percent: 100 } });
      await dieInDefault(id, failpoint);
      await becomes(members[0], id, { current_turn: 2 });
      const isCovered = on_default === 'cover';
      // Two guarantees are held, of which a half each covers what is missing, or none.
      expect(await heldBy(stack, id)).toBe(isCovered ? '100000.0000' : '200000.0000');
      expect(await balances(members)).toEqual([isCovered ? 1_100_000 : 1_000_000, 800_000, 1_000_000]);
      expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toHaveLength(1);
    },
    180_000,
  );

  it('between a debit and its record', async () => {
    const { id, members } = await buildWindfall(stack);
    await dieInDefault(id, 'settle-default.debited');
    await eventually(
      () => balances(members.slice(0, 1)),
      ([balance]) => balance === 1_000_000,
      60_000,
    );
    await contribute(stack, members[1] as BuiltUser, id);
    await becomes(members[1], id, { status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
  }, 180_000);
});

describe('An order that gives way ends when the worker is killed', () => {
  it('between its cancellation and the signal to its workflow', async () => {
    const { id, members, memberIds } = await circleOf(2, { paid: 0, terms: {} });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const { body } = await contribute(stack, first, id, { payment_id: bca, on_behalf_of: memberIds[1] });
    stack.arm('end-order.cancelled=kill');
    expect((await contribute(stack, second, id)).status).toBe(201);
    await stack.worker.exited;
    await stack.restart();
    await eventually(
      async () => (await stack.get(`/v1/payments/orders/${body.payment_order_id}`, { token: first.token })).body.data,
      ({ status }) => status === 'EXPIRED',
      180_000,
    );
  }, 240_000);
});

describe('Standing orders are paid once when the worker is killed', () => {
  it('between a payment and its record', async () => {
    const { id, members, memberIds } = await circleOf(2, { paid: 0, terms: {} });
    for (const [index, member] of members.entries()) {
      const path = `/v1/saving-circles/${id}/members/${memberIds[index]}/standing-order`;
      const order = { source_account_id: member.accountId };
      expect((await stack.put(path, order, { token: member.token })).status).toBe(200);
      expect((await contribute(stack, member, id)).status).toBe(201);
    }
    await becomes(members[0], id, { current_turn: 2 });
    stack.arm('pay-standing-orders.paid=kill');
    await openNextRound(stack, id);
    await stack.worker.exited;
    await stack.restart();
    await becomes(members[0], id, { status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
  }, 180_000);
});

describe('A place is handed over once when the API is killed', () => {
  it.each(casesOf(['accept-replacement.after', 'accept-replacement.passed']))(
    'at %s',
    async (failpoint) => {
      const { id, members, memberIds } = await circleOf(2, { paid: 2, terms: {} });
      const leaving = members[1] as BuiltUser;
      const heir = await buildIndividual(stack, { balance: '1000000' });
      const proposal = `/v1/saving-circles/${id}/members/${memberIds[1]}/replacements`;
      const { body } = await stack.post(proposal, { account_id: heir.accountId }, { token: leaving.token });
      const path = `/v1/saving-circles/${id}/replacements/${body.data.id}/accept`;
      const accept = () => stack.post(path, {}, { token: heir.token });
      stack.arm(`${failpoint}=kill`);
      expect(await accept().catch(() => null)).toBeNull();
      await stack.api.exited;
      await stack.restart();
      expect(await accept()).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
      expect(await eventsOf(stack, 'MEMBER_REPLACED', id)).toHaveLength(1);
      expect((await readCircle(stack, heir, id)).members[1]).toMatchObject({ id: memberIds[1], user_id: heir.id });
    },
    120_000,
  );
});

describe('A circle is settled once when the process that settles it is killed', () => {
  it('at its last pot, in the worker', async () => {
    const { id, members } = await circleOf(2, { paid: 2, terms: { guarantee_percent: 50 } });
    await becomes(members[0], id, { current_turn: 2 });
    await openNextRound(stack, id);
    await becomes(members[0], id, { next_round_opens_at: null });
    stack.arm('settle-circle.posted=kill');
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    await stack.worker.exited;
    await stack.restart();
    await becomes(members[0], id, { status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
    expect(await heldBy(stack, id)).toBe('0.0000');
  }, 120_000);

  it('at its cancellation, in the API', async () => {
    const { id, members } = await circleOf(2, { paid: 1, terms: { guarantee_percent: 50 } });
    const platform = await buildPlatformAdmin(stack);
    const cancel = () => stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: platform.token });
    stack.arm('settle-circle.posted=kill');
    expect(await cancel().catch(() => null)).toBeNull();
    await stack.api.exited;
    await stack.restart();
    expect(await cancel()).toMatchObject({ status: 200, body: { data: { status: 'cancelled' } } });
    expect((await cancel()).status).toBe(400);
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
  }, 120_000);
});
