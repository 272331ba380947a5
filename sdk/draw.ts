import { hexDigest, utf8 } from './hmac.ts';

/** What `GET /v1/saving-circles/{id}/draw` answers in `data`. */
export interface Draw {
  commitment: string;
  /** Null until the draw. */
  seed: string | null;
  /** Null until the draw; whoever does not belong to the circle sees no accounts in it. */
  order: readonly { account_id: string | null; turn_number: number }[] | null;
}

/** A draw that is not what was committed to, or cannot be checked: the message says which. */
export class DrawError extends Error {
  override readonly name = 'DrawError';
}

/**
 * Checks the draw of a lottery and answers the accounts in the order of their turns. It asks nobody: the seed has to be
 * the one that `notedCommitment` stands for, and the order the one that follows from the seed. `notedCommitment` is what
 * the circle showed when you joined; one that is read together with the seed proves nothing. Throws DrawError when the
 * draw was not made yet, hides its accounts, or is another one than was committed to.
 */
export async function verifyDraw({ commitment, seed, order }: Draw, notedCommitment: string): Promise<string[]> {
  if (commitment !== notedCommitment) throw new DrawError('the commitment is not the one that was noted');
  if (seed === null || order === null) throw new DrawError('the draw has not been made yet');
  if ((await hexDigest(utf8(seed))) !== commitment)
    throw new DrawError('the seed is not the one that was committed to');
  const inTurns = order.toSorted((left, right) => left.turn_number - right.turn_number);
  const ranked: { account: string; rank: string }[] = [];
  for (const [index, { account_id: account, turn_number: turn }] of inTurns.entries()) {
    if (account === null) throw new DrawError('the draw hides its accounts: read it as a member of the circle');
    if (turn !== index + 1) throw new DrawError('the turns are not numbered from 1, one for each member');
    ranked.push({ account, rank: await hexDigest(utf8(`${seed}:${account}`)) });
  }
  const isAscending = ranked.every(({ rank }, index) => index === 0 || (ranked[index - 1]?.rank ?? '') < rank);
  if (!isAscending) throw new DrawError('the order is not the one that follows from the seed');
  return ranked.map(({ account }) => account);
}
