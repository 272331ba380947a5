import { sha256 } from '../shared/digest.ts';
import type { TurnOrder } from './saving-circle.ts';

/** Returns the place of a lottery's seed, sealed until the draw. */
export const placeOfSeed = (circleId: string) => ({
  table: 'saving_circles',
  column: 'draw_seed_sealed',
  row: circleId,
});

/** Returns the commitment to a seed: the SHA-256 of its text, in hex. Published before members join. */
export const commitTo = (seed: string): string => sha256(seed);

/**
 * Combines the members' values, in joining order, for a draw: returns the SHA-256, in hex, of the values joined by
 * newlines.
 */
export const gatherEntropy = (values: readonly string[]): string => sha256(values.join('\n'));

/** Returns a member's rank in a draw, ascending; anyone can compute it. `entropy` is null if members give no values. */
export const drawnRank = (seed: string, entropy: string | null, accountId: string): string =>
  sha256(entropy === null ? `${seed}:${accountId}` : `${seed}:${entropy}:${accountId}`);

/**
 * Sorts members, given in joining order, into turn order: as they joined, or as drawn from the seed and their
 * `entropy`.
 */
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
