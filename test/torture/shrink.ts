import type { Plan } from './plan.ts';

/** Whether a smaller plan still shows the finding. */
export type Shows = (candidate: Plan) => Promise<boolean>;

/** How much of a long plan is tried first: milliseconds before and after the finding's moment. */
const beforeMs = 40_000;
const afterMs = 20_000;

/**
 * Returns the smallest plan that still shows the finding, as far as time allows. A plan too long to be tried often is
 * first cut to the minute around the finding's moment (milliseconds of the plan; null if unknown). Then faults are
 * removed, because a finding with fewer faults is clearer, then work: in halves, quarters and so on down to single
 * items.
 */
export async function shrinkPlan(
  whole: Plan,
  shows: Shows,
  { isOver, moment = null }: { isOver(): boolean; moment?: number | null },
): Promise<Plan> {
  let plan = whole;
  if (moment !== null && whole.durationMs > 2 * (beforeMs + afterMs)) {
    const minute = cutOut(whole, moment - beforeMs, moment + afterMs);
    if (await shows(minute)) plan = minute;
  }
  const faults = await shrinkList(plan.faults, (left) => shows(cutTail({ ...plan, faults: left })), isOver);
  const fewer = cutTail({ ...plan, faults });
  const work = await shrinkList(plan.work, (left) => shows(cutTail({ ...fewer, work: left })), isOver);
  return cutTail({ ...fewer, work });
}

/** The part of a plan that starts between two moments, including the first. */
function cutOut(plan: Plan, from: number, until: number): Plan {
  const start = Math.max(0, from);
  const within = <Item extends { at: number }>(items: Item[]): Item[] =>
    items.filter(({ at }) => at >= start && at < until).map((item) => ({ ...item, at: item.at - start }));
  return cutTail({ ...plan, work: within(plan.work), faults: within(plan.faults) });
}

/** A plan lasts this long after its last piece of work and last fault. */
const tailMs = 3_000;
function cutTail(plan: Plan): Plan {
  const ends = [
    ...plan.work.map(({ at }) => at),
    ...plan.faults.map((fault) => fault.at + ('forMs' in fault ? fault.forMs : 0)),
  ];
  return { ...plan, durationMs: Math.min(plan.durationMs, Math.max(0, ...ends) + tailMs) };
}

async function shrinkList<T>(items: T[], shows: (left: T[]) => Promise<boolean>, isOver: () => boolean): Promise<T[]> {
  if (items.length === 0 || isOver()) return items;
  if (await shows([])) return [];
  let left = items;
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length && !isOver(); ) {
      const candidate = [...left.slice(0, from), ...left.slice(from + size)];
      if (candidate.length > 0 && candidate.length < left.length && (await shows(candidate))) left = candidate;
      else from += size;
    }
  }
  return left;
}
