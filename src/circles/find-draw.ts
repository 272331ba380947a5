import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { CircleMember } from './circle-member.entity.ts';
import type { SeenCircle } from './find-circle.ts';
import type { Draw } from './present-circle.ts';
import { drawsWithEntropy } from './terms.ts';

/** The draw of a lottery, which everybody in the circle can verify. Throws NOT_FOUND for a circle without one. */
export async function findDraw(em: EntityManager, { circle, isStranger }: SeenCircle): Promise<Draw> {
  if (!circle.draw_commitment) refuse('NOT_FOUND', 'this saving circle has no lottery', { field: 'id' });
  const seed = circle.draw_seed ?? null;
  const found = { saving_circle_id: circle.id };
  const drawn =
    seed === null ? null : await em.find(CircleMember, found, { orderBy: { drawn_turn: 'asc' }, refresh: true });
  // As it was drawn, whatever has become of turns and places since.
  const accountOf = ({ drawn_account_id }: CircleMember) =>
    isStranger ? null : must(drawn_account_id, 'a draw covers the account of every member');
  const order = drawn?.map((member) => ({
    account_id: accountOf(member),
    turn_number: must(member.drawn_turn, 'a draw gave every member a turn'),
  }));
  const joined = drawn?.toSorted((left, right) => Number(BigInt(left.joining_order) - BigInt(right.joining_order)));
  const entropy = joined?.map((member) => ({ account_id: accountOf(member), value: member.entropy ?? '' }));
  return {
    commitment: circle.draw_commitment,
    seed,
    order: order ?? null,
    ...(drawsWithEntropy(circle) && { entropy: entropy ?? null }),
  };
}
