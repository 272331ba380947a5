import type { EntityManager } from '@mikro-orm/postgresql';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { nextOfRound } from './default.ts';
import { factsOf, findProgress } from './find-progress.ts';
import { lockOpenRound, reportMissing } from './lock-open-round.ts';

/**
 * From a day before the open round's interval ends, at `at`: records one event CONTRIBUTION_DUE per member whose
 * contribution is missing, once. Returns the circle's progress.
 */
export async function reportDue(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await em.transactional(async (tx) => {
    const open = await lockOpenRound(tx, circleId);
    if (open === null) return;
    const { circle, round, places } = open;
    const next = nextOfRound(factsOf(circle, round, places));
    if (next?.step !== 'remind' || Date.parse(next.at) > now.getTime()) return;
    round.reminded_at = now;
    await reportMissing(tx, open, 'CONTRIBUTION_DUE', { due_at: round.due_at.toISOString() });
  });
  return findProgress(em.fork(), circleId);
}
