import { makePlan, parsePlan } from './plan.ts';
import { type Fault, faultStories } from './plan-faults.ts';
import { refusedRefund } from './plan-refunds.ts';

const killed = ({ faults }: { faults: Fault[] }): Set<string> =>
  new Set(faults.flatMap((fault) => (fault.do === 'kill' ? fault.parts : [])));

describe('Torture plans', () => {
  it('A two-minute plan from CI’s seed kills an API and a worker, and cuts a connection after a commit', () => {
    const plan = makePlan(399, 2);
    expect([...killed(plan)]).toEqual(
      expect.arrayContaining([expect.stringMatching(/^api/), expect.stringMatching(/^worker/)]),
    );
    const cuts = plan.faults.filter((fault) => fault.do === 'network' && fault.trouble.kind === 'cut-after');
    expect(cuts).not.toEqual([]);
  });

  it.each([1, 301, 302, 303])(
    'A plan of ten minutes from seed %d kills every part, and uses every kind of fault and of network trouble',
    (seed) => {
      const plan = makePlan(seed, 10);
      expect([...killed(plan)].toSorted()).toEqual([
        'api1',
        'api2',
        'postgres',
        'sandbox',
        'temporal',
        'worker1',
        'worker2',
      ]);
      expect([...new Set(plan.faults.map((fault) => fault.do))].toSorted()).toEqual(
        Object.keys(faultStories).toSorted(),
      );
      const troubles = plan.faults.flatMap((fault) => (fault.do === 'network' ? [fault.trouble.kind] : []));
      expect(new Set(troubles)).toEqual(
        new Set(['delay', 'black-hole', 'refuse', 'truncate', 'cut-after', 'cut-before']),
      );
    },
  );

  it.each([399, 641, 63, 44])(
    'A plan from seed %d has time for a default that guarantees cover, and for one that excludes the member',
    (seed) => {
      const { work, durationMs } = makePlan(seed, 1);
      const sure = work
        .flatMap((item) => (item.do === 'terms' && item.at <= durationMs * 0.15 ? [item] : []))
        .filter(
          ({ percent, turn, pays, heir, end }) =>
            percent === 50 && turn === 2 && pays === 'never' && heir === null && end === 'run',
        );
      const circleWith = (rule: string) => {
        const circle = sure.find((one) => one.rule === rule);
        if (circle === undefined) throw new Error(`no circle with the rule ${rule} has time for its default`);
        return circle;
      };
      const [cover, exclude] = [circleWith('cover'), circleWith('exclude')];
      for (const { members, stands, defaulter } of [cover, exclude]) {
        // The default costs at least two other members money, and no standing order pays instead.
        expect(members.length).toBeGreaterThanOrEqual(3);
        expect(stands).not.toBe(defaulter);
      }
      // The defaulter under `cover` has not received yet; the one under `exclude` would receive now.
      expect([cover.defaulter, exclude.defaulter]).toEqual([cover.members.length - 1, 1]);
    },
  );

  it('Plans refund partners’ payments in full, in part and in excess, and donations by donors and operators', () => {
    const plans = [1, 2, 3, 399].map((seed) => makePlan(seed, 2).work);
    const refunds = plans.flat().flatMap((item) => (item.do === 'refund' ? [item] : []));
    const asked = refunds.map(({ paid, parts }) => parts.reduce<number>((sum, part) => sum + (part ?? 0), 0) - paid);
    expect([asked.some((beyond) => beyond > 0), asked.some((beyond) => beyond < 0), asked.includes(0)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(refunds.every(({ paid, parts }) => parts.every((part) => (part ?? 0) <= paid))).toBe(true);
    expect(refunds.some(({ parts }) => parts.includes(refusedRefund))).toBe(true);
    expect(new Set(refunds.map(({ channel }) => channel))).toEqual(new Set(['DANA', 'LINKAJA', 'BNI', 'QRIS']));
    const takers = plans.flat().flatMap((item) => (item.do === 'take-back' ? [item.by] : []));
    expect(new Set(takers)).toEqual(new Set(['donor', 'people', 'both']));
  });

  it('A recorded plan is read back unchanged, and one with an invalid item is rejected', () => {
    const plan = makePlan(7, 1);
    expect(parsePlan(JSON.stringify(plan))).toEqual(plan);
    const [work] = plan.work;
    for (const wrong of [{ do: 'ballance' }, { user: 99, do: 'transfer', amount: 1 }, { api: 2 }]) {
      expect(() => parsePlan(JSON.stringify({ ...plan, work: [{ ...work, ...wrong }] }))).toThrow();
    }
    expect(() => parsePlan(JSON.stringify({ ...plan, faults: [{ id: 'f1', at: 1, do: 'kil' }] }))).toThrow();
  });
});
