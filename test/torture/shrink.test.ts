import { makePlan, type Plan } from './plan.ts';
import { shrinkPlan } from './shrink.ts';

const plan = makePlan(11, 2);
const never = () => false;
const has = (list: { id: string }[], ...ids: string[]) => ids.every((id) => list.some((item) => item.id === id));

it('The same seed and minutes give the same plan, and another seed gives another plan', () => {
  expect(makePlan(11, 2)).toEqual(plan);
  expect(makePlan(12, 2)).not.toEqual(plan);
  expect(plan.work.length).toBeGreaterThan(100);
  expect(plan.faults.length).toBeGreaterThan(10);
});

it('A plan is unchanged after a JSON round trip', () => {
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});

it('A plan shrinks to the one fault and two actions that its finding needs', async () => {
  const needed = (candidate: Plan) => has(candidate.faults, 'f7') && has(candidate.work, 'w20', 'w90');
  const small = await shrinkPlan(plan, async (candidate) => needed(candidate), { isOver: never });
  expect(small.faults.map(({ id }) => id)).toEqual(['f7']);
  expect(small.work.map(({ id }) => id)).toEqual(['w20', 'w90']);
  expect(small.durationMs).toBeLessThanOrEqual(plan.durationMs);
});

it('A plan shrinks to one without faults if its finding needs none', async () => {
  const small = await shrinkPlan(plan, async ({ work }) => has(work, 'w3'), { isOver: never });
  expect(small).toMatchObject({ faults: [], work: [{ id: 'w3' }] });
});

it('Shrinking returns the smallest plan so far when time runs out', async () => {
  let tried = 0;
  const shows = async ({ faults }: Plan) => {
    tried += 1;
    return has(faults, 'f2');
  };
  const small = await shrinkPlan(plan, shows, { isOver: () => tried >= 3 });
  expect(tried).toBeLessThanOrEqual(4);
  expect(has(small.faults, 'f2')).toBe(true);
});

it('A long plan is first cut to the time around its finding, and kept whole if that does not show it', async () => {
  const long = makePlan(11, 10);
  const late = long.work.find(({ at }) => at > 300_000);
  if (!late) throw new Error('a long plan has late work');
  const shows = async ({ work }: Plan) => has(work, late.id);
  const durations: number[] = [];
  const watched = async (candidate: Plan) => {
    durations.push(candidate.durationMs);
    return shows(candidate);
  };
  const small = await shrinkPlan(long, watched, { isOver: never, moment: late.at });
  expect(small.work.map(({ id }) => id)).toEqual([late.id]);
  expect(small.faults).toEqual([]);
  expect(Math.max(...durations)).toBeLessThanOrEqual(2 * 60_000);
  const elsewhere = await shrinkPlan(long, shows, { isOver: never, moment: 0 });
  expect(elsewhere.work).toMatchObject([{ id: late.id, at: late.at }]);
});
