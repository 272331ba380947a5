import { sha256 } from '../shared/digest.ts';
import type { TurnOrder } from './saving-circle.ts';

/** The commitment to a seed: the SHA-256, in hex, of its text. Published before members join. */
export const commitTo = (seed: string): string => sha256(seed);

/** Where a member stands in a draw: members take their turns by this, ascending. Anyone can compute it. */
export const drawnRank = (seed: string, accountId: string): string => sha256(`${seed}:${accountId}`);

/**
 * Members in the order of their turns: as they joined, or as the lottery's seed says. `members` come in the order of
 * joining.
 */
export function inTurnOrder<Member extends { account_id: string }>(
  turnOrder: TurnOrder,
  members: readonly Member[],
  seed: string | null,
): Member[] {
  if (turnOrder === 'joining' || seed === null) return [...members];
  const ranked = members.map((member) => ({ member, rank: drawnRank(seed, member.account_id) }));
  return ranked.sort((left, right) => (left.rank < right.rank ? -1 : 1)).map(({ member }) => member);
}
