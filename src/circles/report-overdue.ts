import type { EntityManager } from '@mikro-orm/postgresql';
import type { CircleProgress, CircleStep } from './circle-contract.ts';
import { findProgress } from './find-progress.ts';
import { lockOpenRound, reportMissing } from './lock-open-round.ts';

/**
 * When the open round is past its interval at `at`: records one event CONTRIBUTION_OVERDUE per member whose
 * contribution is missing, once. The round stays open. Returns the circle's progress.
 */
export async function reportOverdue(em: EntityManager, { circleId, at }: CircleStep): Promise<CircleProgress> {
  const now = new Date(at);
  await em.transactional(async (tx) => {
    const open = await lockOpenRound(tx, circleId);
    if (open === null) return;
    const { round } = open;
    if (round.due_at > now || round.overdue_reported_at) return;
    round.overdue_reported_at = now;
    await reportMissing(tx, open, 'CONTRIBUTION_OVERDUE', { due_at: round.due_at.toISOString() });
  });
  return findProgress(em.fork(), circleId);
}
