import { type BuiltUser, balanceOf } from '../support/build.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import {
  addMembers,
  buildActiveCircle,
  buildMembers,
  circleWhen,
  contribute,
  createCircle,
  heldBy,
  readCircle,
  startNow,
} from './build-circle.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => stack.stop());

/** Where the worker dies: with the journal posted but not committed, after the commit, before anything. */
const everywhere = ['pay-round.posted', 'pay-round.after', 'pay-round.before'] as const;
const failpoints = isFullRun() ? everywhere : everywhere.slice(0, 2);

describe('A pot is paid once when the worker is killed', () => {
  it(`at each of ${failpoints.join(', ')}`, async () => {
    const circles = await Promise.all(failpoints.map(() => buildActiveCircle(stack, 2)));
    for (const [index, failpoint] of failpoints.entries()) {
      const { id, creator, members } = circles[index] as (typeof circles)[number];
      stack.arm(`${failpoint}=kill`);
      for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
      await stack.worker.exited;
      // What was not committed is gone, what was is there; nobody has to know which.
      expect(await balanceOf(stack, creator.accountId)).toBe(
        failpoint === 'pay-round.after' ? '1100000.0000' : '900000.0000',
      );
      await stack.restart();
      await eventually(
        () => readCircle(stack, creator, id),
        (circle) => circle.current_turn === 2,
        60_000,
      );
      expect(await heldBy(stack, id)).toBe('0.0000');
      expect(await Promise.all(members.map(({ accountId }) => balanceOf(stack, accountId)))).toEqual([
        '1100000.0000',
        '900000.0000',
      ]);
    }
    await expectChecksEmpty(stack);
  }, 120_000);
});

describe('A circle is founded and started once when the worker is killed', () => {
  it('after its row, and after its start', async () => {
    const members = await buildMembers(stack, 2);
    const [creator] = members as [BuiltUser];
    stack.arm('open-circle.after=kill');
    const creating = createCircle(stack, creator);
    await stack.worker.exited;
    await stack.restart();
    const { id } = await creating;
    const { body } = await stack.get('/v1/saving-circles', { token: creator.token });
    expect(body.saving_circles.map((circle: { id: string }) => circle.id)).toEqual([id]);
    expect((await addMembers(stack, creator, id, members)).status).toBe(201);
    stack.arm('start-circle.after=kill');
    const starting = startNow(stack, creator, id);
    await stack.worker.exited;
    await starting;
    expect((await readCircle(stack, creator, id)).status).toBe('active');
    await stack.restart();
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    const { members: shown } = await circleWhen(stack, creator, id, { current_turn: 2 });
    expect(shown.map(({ turn_number }: { turn_number: number }) => turn_number).toSorted()).toEqual([1, 2]);
    const started = "select 1 from events where resource_id = ? and jsonb_exists(data, 'members')";
    expect(await stack.em().execute<unknown[]>(started, [id])).toHaveLength(1);
    expect(await balanceOf(stack, creator.accountId)).toBe('1100000.0000');
    await expectChecksEmpty(stack);
  }, 120_000);
});
