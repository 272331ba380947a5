import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { CircleMember } from './circle-member.entity.ts';
import type { SeenCircle } from './find-circle.ts';
import type { Draw } from './present-circle.ts';
import { drawsWithEntropy, termsOf } from './terms.ts';

/** The draw of a lottery, which everybody in the circle can verify. Throws NOT_FOUND for a circle without one. */
export async function findDraw(em: EntityManager, { circle, isStranger }: SeenCircle): Promise<Draw> {
  if (!circle.draw_commitment) refuse('NOT_FOUND', 'this saving circle has no lottery', { field: 'id' });
  const seed = circle.draw_seed ?? null;
  const isDrawnWith = drawsWithEntropy(circle.turn_order, termsOf(circle));
  if (seed === null) {
    return { commitment: circle.draw_commitment, seed, order: null, ...(isDrawnWith && { entropy: null }) };
  }
  const members = await em.find(
    CircleMember,
    { saving_circle_id: circle.id },
    { orderBy: { drawn_turn: 'asc' }, refresh: true },
  );
  const shown = (accountId: string) => (isStranger ? null : accountId);
  // As it was drawn, whatever has become of turns and places since.
  const accountOf = ({ drawn_account_id }: CircleMember) =>
    shown(must(drawn_account_id, 'a draw covers the account of every member'));
  const order = members.map((member) => ({
    account_id: accountOf(member),
    turn_number: must(member.drawn_turn, 'a draw gave every member a turn'),
  }));
  const draw = { commitment: circle.draw_commitment, seed, order };
  if (!isDrawnWith) return draw;
  const joined = members.toSorted((left, right) => Number(BigInt(left.joining_order) - BigInt(right.joining_order)));
  const entropy = joined.map((member) => ({
    account_id: accountOf(member),
    value: must(member.entropy, 'everybody who joins such a lottery gives a value'),
  }));
  return { ...draw, entropy };
}
