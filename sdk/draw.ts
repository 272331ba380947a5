import { hexDigest, utf8 } from './hmac.ts';

/** The `data` of `GET /v1/saving-circles/{id}/draw`. */
export interface Draw {
  commitment: string;
  /** Null until the draw. */
  seed: string | null;
  /** Null until the draw; its accounts are null for callers outside the circle. */
  order: readonly { account_id: string | null; turn_number: number }[] | null;
  /** The members' values, in the order of joining; null (or absent) until the draw and in circles without terms. */
  entropy?: readonly { account_id: string | null; value: string }[] | null;
}

/** The value with which you joined a circle with terms. */
export interface OwnEntropy {
  account_id: string;
  value: string;
}

/** Thrown for a draw that does not match its commitment or cannot be checked; the message has the reason. */
export class DrawError extends Error {
  override readonly name = 'DrawError';
}

/**
 * Verifies a lottery's draw and returns the accounts in the order of their turns. Makes no calls: the seed must match
 * `notedCommitment`, and the order must follow from the seed. `notedCommitment` is what the circle showed when you
 * joined; a commitment read together with the seed proves nothing. In a circle with terms the order also follows from
 * the members' values: `own` is yours, which must be among them. Throws DrawError if there was no draw yet, if the draw
 * hides its accounts or omits your value, or if it does not match the commitment.
 */
export async function verifyDraw(draw: Draw, notedCommitment: string, own?: OwnEntropy): Promise<string[]> {
  const { commitment, seed, order } = draw;
  if (commitment !== notedCommitment) throw new DrawError('the commitment is not the one you noted');
  if (seed === null || order === null) throw new DrawError('the draw has not been made yet');
  if ((await hexDigest(utf8(seed))) !== commitment) throw new DrawError('the seed does not match the commitment');
  const secret = await secretOf(draw, seed, own);
  const inTurns = order.toSorted((left, right) => left.turn_number - right.turn_number);
  const ranked: { account: string; rank: string }[] = [];
  for (const [index, { account_id: account, turn_number: turn }] of inTurns.entries()) {
    if (account === null) throw new DrawError('the draw hides its accounts: read it as a member of the circle');
    if (turn !== index + 1) throw new DrawError('the turns are not numbered from 1, one for each member');
    ranked.push({ account, rank: await hexDigest(utf8(`${secret}:${account}`)) });
  }
  const isAscending = ranked.every(({ rank }, index) => index === 0 || (ranked[index - 1]?.rank ?? '') < rank);
  if (!isAscending) throw new DrawError('the order does not follow from the seed');
  return ranked.map(({ account }) => account);
}

/** The key by which the accounts are ranked: the seed, and in circles with terms the members' values. */
async function secretOf({ order, entropy }: Draw, seed: string, own: OwnEntropy | undefined): Promise<string> {
  const values = entropy ?? [];
  if (own && !values.some(({ account_id, value }) => account_id === own.account_id && value === own.value)) {
    throw new DrawError('your own value is not among the values of the draw');
  }
  if (!entropy) return seed;
  const accounts = (rows: Draw['order'] | Draw['entropy']) => JSON.stringify(rows?.map(accountOf).toSorted());
  if (accounts(entropy) !== accounts(order)) throw new DrawError('the draw does not have one value for each member');
  return `${seed}:${await hexDigest(utf8(values.map(({ value }) => value).join('\n')))}`;
}

const accountOf = ({ account_id }: { account_id: string | null }): string => account_id ?? '';

/** A random value to join a lottery with: 64 hex characters. */
export function makeEntropy(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
