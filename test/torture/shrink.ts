import type { Plan } from './plan.ts';

/** Whether a smaller plan still shows what was found. */
export type Shows = (candidate: Plan) => Promise<boolean>;

/**
 * The smallest plan that still shows the finding, as far as the time allows: faults are left out first, because a
 * finding with fewer of them says more, then work. In halves, quarters and so on down to single ones.
 */
export async function shrinkPlan(plan: Plan, shows: Shows, isOver: () => boolean): Promise<Plan> {
  const faults = await shrinkList(plan.faults, (left) => shows(cutTail({ ...plan, faults: left })), isOver);
  const fewer = cutTail({ ...plan, faults });
  const work = await shrinkList(plan.work, (left) => shows(cutTail({ ...fewer, work: left })), isOver);
  return cutTail({ ...fewer, work });
}

/** After the last piece of work and the last fault nothing happens that is worth waiting for. */
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
