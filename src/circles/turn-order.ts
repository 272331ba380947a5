import { sha256 } from '../shared/digest.ts';
import type { TurnOrder } from './saving-circle.ts';

/** The commitment to a seed: the SHA-256, in hex, of its text. Published before members join. */
export const commitTo = (seed: string): string => sha256(seed);

/** What the members' own values, in the order of joining, add to a draw: their SHA-256, in hex, one on each line. */
export const gatherEntropy = (values: readonly string[]): string => sha256(values.join('\n'));

/**
 * Where a member stands in a draw: members take their turns by this, ascending. Anyone can compute it. `entropy` is null
 * in a circle whose members add nothing to the draw.
 */
export const drawnRank = (seed: string, entropy: string | null, accountId: string): string =>
  sha256(entropy === null ? `${seed}:${accountId}` : `${seed}:${entropy}:${accountId}`);

/**
 * Members in the order of their turns: as they joined, or as the lottery's seed says, together with the `entropy` of
 * the members where they give any. `members` come in the order of joining.
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
