import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { isFinal } from '../shared/status-law.ts';
import { belongsTo, findCircle } from './find-circle.ts';
import { findPositions } from './find-positions.ts';
import { refuseUnknownCircle } from './lock-circle.ts';
import { circleLaw } from './saving-circle.ts';
import { type Settlement, settle } from './settlement.ts';

/**
 * The settlement of a circle, in turn order, for its members, creator and admins. Throws NOT_FOUND, and FORBIDDEN for
 * anybody else.
 */
export async function findSettlement(em: EntityManager, caller: Caller, circleId: string): Promise<Settlement> {
  const circle = (await findCircle(em, circleId)) ?? refuseUnknownCircle();
  if (!(await belongsTo(em, caller, circle)))
    refuse('FORBIDDEN', 'you are not a member of this saving circle', { field: 'id' });
  const positions = await findPositions(em, circleId);
  const [first] = positions;
  return settle(positions, {
    hasEnded: first !== undefined && isFinal(circleLaw, first.status),
    covered: positions.flatMap(({ owed }) => owed),
  });
}
