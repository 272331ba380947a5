import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { balancesOf, buildDailyCircle, contribute, eventsOf, heldBy, readCircle } from './build-circle.ts';
import { endInterval } from './end-interval.ts';

/** Failpoints and terms that kill.test.ts does not cover. */
let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.restart());

const untilSecondTurn = (as: BuiltUser, id: string) =>
  eventually(
    () => readCircle(stack, as, id),
    ({ current_turn }) => current_turn === 2,
    90_000,
  );

describe('The default remedy when the worker is killed', () => {
  const points = ['settle-default.settled', 'pay-round.posted'];
  it.each(points.flatMap((failpoint) => [['cover', failpoint] as const, ['exclude', failpoint] as const]))(
    'The remedy for a default under %s is applied once when the worker is killed at %s',
    async (on_default, failpoint) => {
      const terms = { on_default, guarantee_percent: 100 };
      const { id, creator, members } = await buildDailyCircle(stack, 3, { paid: 2, terms });
      stack.arm(`${failpoint}=kill`);
      await endInterval(stack, id);
      await stack.worker.exited;
      await stack.restart();
      await untilSecondTurn(creator, id);
      const isCovered = on_default === 'cover';
      // Two guarantees are held; half of each covers the missing contribution, or neither is used.
      expect(await heldBy(stack, id)).toBe(isCovered ? '100000.0000' : '200000.0000');
      expect(await balancesOf(stack, members)).toEqual([isCovered ? 1_100_000 : 1_000_000, 800_000, 1_000_000]);
      expect(await eventsOf(stack, 'MEMBER_DEFAULTED', id)).toHaveLength(1);
    },
    180_000,
  );
});

describe('The pot when the worker is killed', () => {
  it('A pot is paid once when the worker is killed before it checks the round', async () => {
    const { id, creator, members } = await buildDailyCircle(stack, 2, { paid: 1, terms: {} });
    stack.arm('move-circle.before=kill');
    expect((await contribute(stack, members[1] as BuiltUser, id)).status).toBe(201);
    await stack.worker.exited;
    await stack.restart();
    await untilSecondTurn(creator, id);
    expect(await balancesOf(stack, members)).toEqual([1_100_000, 900_000]);
  }, 120_000);
});

describe('A place when the API is killed', () => {
  it('A place is handed over once when the API is killed before the commit', async () => {
    const { id, members, memberIds } = await buildDailyCircle(stack, 2, { paid: 2, terms: {} });
    const leaving = members[1] as BuiltUser;
    const heir = await buildIndividual(stack, { balance: '1000000' });
    const proposal = `/v1/saving-circles/${id}/members/${memberIds[1]}/replacements`;
    const { body } = await stack.post(proposal, { account_id: heir.accountId }, { token: leaving.token });
    const path = `/v1/saving-circles/${id}/replacements/${body.data.id}/accept`;
    const accept = () => stack.post(path, {}, { token: heir.token });
    stack.arm('accept-replacement.passed=kill');
    expect(await accept().catch(() => null)).toBeNull();
    await stack.api.exited;
    await stack.restart();
    expect(await accept()).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
    expect(await eventsOf(stack, 'MEMBER_REPLACED', id)).toHaveLength(1);
    expect((await readCircle(stack, heir, id)).members[1]).toMatchObject({ id: memberIds[1], user_id: heir.id });
  }, 120_000);
});
