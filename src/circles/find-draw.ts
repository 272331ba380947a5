import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { CircleMember } from './circle-member.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

export interface Draw {
  /** SHA-256 of the seed, in hex. */
  commitment: string;
  /** Null until the draw. */
  seed: string | null;
  /** Strangers, to whom the circle shows itself, see no accounts. */
  order: { account_id: string | null; turn_number: number }[] | null;
}

/** The draw of a lottery, for everybody in the circle to check. Refuses with NOT_FOUND a circle without one. */
export async function findDraw(
  em: EntityManager,
  circle: SavingCircle,
  { isStranger }: { isStranger: boolean },
): Promise<Draw> {
  if (!circle.draw_commitment) refuse('NOT_FOUND', 'this saving circle has no lottery', { field: 'id' });
  const seed = circle.draw_seed ?? null;
  if (seed === null) return { commitment: circle.draw_commitment, seed, order: null };
  const members = await em.find(
    CircleMember,
    { saving_circle_id: circle.id },
    { orderBy: { turn_number: 'asc' }, refresh: true },
  );
  const order = members.map(({ account_id, turn_number }) => ({
    account_id: isStranger ? null : account_id,
    turn_number: must(turn_number, 'a draw gave every member a turn'),
  }));
  return { commitment: circle.draw_commitment, seed, order };
}
