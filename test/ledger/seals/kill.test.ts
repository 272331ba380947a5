import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { backdate } from '../exports/build-days.ts';
import { countSeals, expectIntact, postMany, sealOf, verify } from './build-seals.ts';

const rounds = isFullRun() ? 2 : 1;
/** The failpoints at which the worker is killed; sealing.test.ts throws an error at each instead. */
const points = casesOf(['make-seal.before-object', 'make-seal.before-row', 'make-seal.after-object']).flatMap((point) =>
  Array.from({ length: rounds }, (_, round) => [point, round] as const),
);

let stack: ProcessStack;
beforeAll(async () => {
  // Of its own: journals are backdated to days that the schedule of a shared stack may have sealed.
  stack = await startProcessStack({ own: true });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(() => stack.restart());

const startNight = (workflowId: string, ...args: unknown[]) => {
  const { client, taskQueue } = stack.deps.workflows;
  return client.workflow.start('sealJournals', { workflowId, taskQueue, args });
};

describe('Sealing whose worker is killed with SIGKILL', () => {
  // Runs first, because no seal covers these days yet. closings.test.ts throws an error at this failpoint instead.
  itInFull(
    'A worker killed between closing two days leaves the first closed, and the next attempt closes the rest',
    async () => {
      const [first = '', second = ''] = await postMany(stack, 2);
      const ago = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
      await backdate(stack, [first], ago(3).toISOString());
      await backdate(stack, [second], ago(2).toISOString());
      const closed = async () =>
        (await stack.em().execute<{ day: string }[]>('select day::text from closed_days order by day')).map(
          ({ day }) => day,
        );
      stack.arm('close-days.after=kill');
      const night = await startNight('night/closes');
      await stack.worker.exited;
      expect(await closed()).toEqual([westernIndonesiaDay(ago(3))]);
      await stack.restart();
      await night.result();
      expect(await closed()).toEqual(expect.arrayContaining([3, 2].map((days) => westernIndonesiaDay(ago(days)))));
    },
    90_000,
  );

  it.each(points)(
    'A worker killed at %s leaves one seal with its object, never two (round %i)',
    async (point, round) => {
      const journals = await postMany(stack, 3);
      const before = await countSeals(stack);
      stack.arm(`${point}=kill`);
      const night = await startNight(`night/${point}/${round}`);
      await stack.worker.exited;
      if (point === 'make-seal.before-object') expect(await verify(stack)).toMatchObject({ beingStored: before + 1 });
      await stack.restart();
      await night.result();
      expect(await countSeals(stack)).toBe(before + 1);
      for (const id of journals) expect(await sealOf(stack, id)).toBe(before + 1);
      await expectIntact(stack);
    },
    90_000,
  );
});

describe('The nightly sealing', () => {
  it('The nightly sealing runs by a schedule and seals all journals', async () => {
    const [journal = ''] = await postMany(stack, 1);
    const { client, taskQueue } = stack.deps.workflows;
    await client.schedule.getHandle(`${taskQueue}/journal-seals`).trigger();
    await eventually(
      () => sealOf(stack, journal),
      (seal) => seal !== null,
    );
    // The seal's row is committed before its object is stored.
    await eventually(
      () => verify(stack),
      (verdict) => verdict.beingStored === null,
    );
    await expectIntact(stack);
  }, 60_000);

  it('The nightly sealing reports how many journals it has sealed', async () => {
    await postMany(stack, 4);
    const night = await startNight('night/counted');
    expect(await night.result()).toBe(4);
    expect(await (await startNight('night/empty')).result()).toBe(0);
  }, 60_000);

  it('The nightly sealing continues after its own last seal, whatever position it is given', async () => {
    const journals = await postMany(stack, 6);
    const after = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    const night = await startNight('night/elsewhere', { after, begunAt: null, journals: 40_000 });
    expect(await night.result()).toBe(40_006);
    for (const id of journals) expect(await sealOf(stack, id)).not.toBeNull();
    expect(await (await startNight('night/after')).result()).toBe(0);
    await expectIntact(stack);
  }, 60_000);
});
