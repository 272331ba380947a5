import type { BuiltUser } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  balancesOf,
  buildActiveCircle,
  circleWhen,
  contribute,
  eventsOf,
  heldBy,
  memberIdsOf,
} from './build-circle.ts';
import { buildWindfall } from './build-windfall.ts';
import { endInterval, openNextRound } from './end-interval.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const pay = async (id: string, members: readonly BuiltUser[]) => {
  for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
};
const balances = (members: readonly BuiltUser[]) => balancesOf(stack, members);
/** Opens the second round of a circle once the first pot is paid. */
async function untilSecondRound(id: string, as: BuiltUser) {
  await circleWhen(stack, as, id, { current_turn: 2 });
  await openNextRound(stack, id);
}

describe('The workflow of a circle', () => {
  it('A circle’s workflow charges standing orders when a round opens and pays the pots', async () => {
    const { id, creator, members } = await buildActiveCircle(stack, 2, { round_interval: 'daily' });
    const memberIds = await memberIdsOf(stack, id, members);
    for (const [index, { accountId, token }] of members.entries()) {
      const path = `/v1/saving-circles/${id}/members/${memberIds[index]}/standing-order`;
      expect((await stack.put(path, { source_account_id: accountId }, { token })).status).toBe(200);
    }
    await pay(id, members);
    await untilSecondRound(id, creator);
    await circleWhen(stack, creator, id, { status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
  });

  it('After the grace period, a circle’s workflow debits a member who has received the pot', async () => {
    const { id, creator, members } = await buildWindfall(stack, { grace_days: 2 });
    await pay(id, members.slice(1));
    await endInterval(stack, id);
    await circleWhen(stack, creator, id, { status: 'completed' });
    expect(await balances(members)).toEqual([1_000_000, 1_000_000]);
    for (const event of ['CONTRIBUTION_OVERDUE', 'MEMBER_DEFAULTED']) {
      expect(await eventsOf(stack, event, id)).toMatchObject([{ data: { user_id: creator.id } }]);
    }
  });

  it.each([
    { on_default: 'cover', held: '50000.0000', receiver: 1_050_000 },
    { on_default: 'exclude', held: '150000.0000', receiver: 950_000 },
  ])(
    'A circle’s workflow pays the pot under $on_default although one member has not paid',
    async ({ on_default, held, receiver }) => {
      const terms = { on_default, guarantee_percent: 50 };
      const { id, creator, members } = await buildActiveCircle(stack, 3, { round_interval: 'daily', terms });
      const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
      await pay(id, members);
      await untilSecondRound(id, creator);
      await circleWhen(stack, creator, id, { next_round_opens_at: null });
      await pay(id, [second, third]);
      await endInterval(stack, id);
      await circleWhen(stack, creator, id, { current_turn: 3 });
      expect(await heldBy(stack, id)).toBe(held);
      expect(await balances([second])).toEqual([receiver]);
      expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toMatchObject([{ data: { user_id: first.id } }]);
    },
  );
});
