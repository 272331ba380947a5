import { sha256 } from '../shared/digest.ts';
import type { TurnOrder } from './saving-circle.ts';

/** The column in which a lottery's seed is sealed until the draw. */
export const placeOfSeed = (circleId: string) => ({
  table: 'saving_circles',
  column: 'draw_seed_sealed',
  row: circleId,
});

/** The commitment to a seed: the SHA-256 of its text, in hex. Published before members join. */
export const commitTo = (seed: string): string => sha256(seed);

/** Combines the members' values, in joining order, for a draw: the SHA-256, in hex, of the values, one per line. */
export const gatherEntropy = (values: readonly string[]): string => sha256(values.join('\n'));

/** A member's rank in a draw, ascending; anyone can compute it. `entropy` is null where members give no values. */
export const drawnRank = (seed: string, entropy: string | null, accountId: string): string =>
  sha256(entropy === null ? `${seed}:${accountId}` : `${seed}:${entropy}:${accountId}`);

/** Members, given in joining order, in turn order: as they joined, or as drawn by seed and the members' `entropy`. */
export function inTurnOrder<Member extends { account_id: string }>(
  turnOrder: TurnOrder,
  members: readonly Member[],
  seed: string | null,
  entropy: string | null = null,
): Member[] {
  if (turnOrder === 'joining' || seed === null) return [...members];
  const ranked = members.map((member) => ({ member, rank: drawnRank(seed, entropy, member.account_id) }));
  return ranked.sort((left, right) => (left.rank < right.rank ? -1 : 1)).map(({ member }) => member);
}
