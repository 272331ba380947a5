import { addMoney, compareMoney, isAboveZero, lesser, type Money, shareMoney, subtractMoney } from '../shared/money.ts';
import type { DefaultRule } from './terms.ts';

/** A member with a place in the open round. */
export interface PlaceInRound {
  memberId: string;
  hasPaid: boolean;
  /** Whether the member's turn to receive is over. */
  hasReceived: boolean;
  /** The rest of the member's guarantee (IDR, scale 4). */
  guaranteeLeft: Money;
  /**
   * An order for the contribution that may have been paid without our knowledge, as far as it is `awaited`: `open`, or
   * `ending`, by which the provider is asked. Absent or null where there is none.
   */
  order?: 'open' | 'ending' | null;
}

/** A part of a missing contribution paid by a guarantee; both ids are members'. IDR, scale 4, above zero. */
export interface Cover {
  debtor: string;
  guarantor: string;
  amount: Money;
}

/**
 * The remedy of a default. Debits are tried once a day; `cover` and `exclude` complete the pot at once. All three need
 * to know what was paid of orders: `ask` names the members whose orders have to end first.
 */
export type Remedy =
  | { kind: 'ask'; members: string[] }
  | { kind: 'cover'; covers: Cover[] }
  | { kind: 'exclude'; members: string[] }
  | { kind: 'debit'; members: string[] }
  | { kind: 'wait' };

/**
 * The remedy of a round that misses contributions (of `amount` each, IDR). `cover`: from what is left of guarantees,
 * the defaulter's own first, then equally from all; in full or not at all. `exclude`: who has not paid loses their
 * place, if anybody has paid. `winner_first`: who has received and not paid is debited. Otherwise the round waits.
 * Nobody is covered, excluded or debited before the provider has told what was paid of their orders.
 */
export function remedyOf(rule: DefaultRule, amount: Money, places: readonly PlaceInRound[]): Remedy {
  const remedy = remedyOfUnpaid(rule, amount, places);
  if (remedy.kind === 'wait') return remedy;
  const ordered = places.filter(({ hasPaid, order }) => !hasPaid && order).map(({ memberId }) => memberId);
  // Whoever is not debited keeps their order: it is the only way in which their contribution may still come.
  const asked = remedy.kind === 'debit' ? ordered.filter((id) => remedy.members.includes(id)) : ordered;
  return asked.length === 0 ? remedy : { kind: 'ask', members: asked };
}

/**
 * What of an unended order a remedy waits for: null where the order was made after the provider was first asked, at
 * `askedAt`, for that remedy. So the remedy is tried as soon as the orders that there were by then have ended, however
 * often and by whomever contributions are ordered again; and nobody uses up what is asked for somebody else.
 */
export function awaited(order: { madeAt: Date; isEnding: boolean }, askedAt: Date | null): 'open' | 'ending' | null {
  if (askedAt !== null && order.madeAt > askedAt) return null;
  return order.isEnding ? 'ending' : 'open';
}

type RemedyOfUnpaid = Exclude<Remedy, { kind: 'ask' }>;

function remedyOfUnpaid(rule: DefaultRule, amount: Money, places: readonly PlaceInRound[]): RemedyOfUnpaid {
  const missing = places.filter(({ hasPaid }) => !hasPaid);
  if (missing.length === 0) return { kind: 'wait' };
  if (rule === 'cover') return coverAll(amount, places, missing);
  if (rule === 'exclude' && missing.length < places.length) {
    return { kind: 'exclude', members: missing.map(({ memberId }) => memberId) };
  }
  const winners = missing.filter(({ hasReceived }) => hasReceived).map(({ memberId }) => memberId);
  return rule === 'winner_first' && winners.length > 0 ? { kind: 'debit', members: winners } : { kind: 'wait' };
}

function coverAll(amount: Money, places: readonly PlaceInRound[], missing: readonly PlaceInRound[]): RemedyOfUnpaid {
  const left = new Map(places.map(({ memberId, guaranteeLeft }) => [memberId, guaranteeLeft]));
  const covers: Cover[] = [];
  const take = (debtor: string, guarantor: string, part: Money): void => {
    if (!isAboveZero(part)) return;
    covers.push({ debtor, guarantor, amount: part });
    left.set(guarantor, subtractMoney(left.get(guarantor) ?? '0', part));
  };
  const owed = missing.map(({ memberId, guaranteeLeft }) => {
    const own = lesser(amount, guaranteeLeft);
    take(memberId, memberId, own);
    return { debtor: memberId, rest: subtractMoney(amount, own) };
  });
  const needed = addMoney('0', ...owed.map(({ rest }) => rest));
  if (compareMoney(needed, addMoney('0', ...left.values())) > 0) return { kind: 'wait' };
  for (const { debtor, rest } of owed) {
    for (const [guarantor, part] of alike(rest, [...left])) take(debtor, guarantor, part);
  }
  return { kind: 'cover', covers };
}

/** Splits a need into parts as equal as what each has available allows; together they cover it. */
function alike(need: Money, available: readonly (readonly [string, Money])[]): [string, Money][] {
  // From the member with the least: what they cannot give is taken from the others.
  const byLeast = available.toSorted(([, left], [, right]) => compareMoney(left, right));
  let rest = need;
  return byLeast.map(([id, most], index) => {
    const others = byLeast.length - index;
    const equal = isAboveZero(rest) ? (shareMoney(rest, Array(others).fill('1')).at(-1) ?? rest) : '0.0000';
    const part = others === 1 ? rest : lesser(equal, most);
    rest = subtractMoney(rest, part);
    return [id, part];
  });
}

/** Moves turns up when members lose their places: a member's id and turn, null where the turn is lost. */
export function closeUp(
  turns: readonly { memberId: string; turn: number }[],
  { currentTurn, excluded }: { currentTurn: number; excluded: readonly string[] },
): { memberId: string; turn: number | null }[] {
  const gone = new Set(excluded);
  let next = currentTurn;
  return turns
    .toSorted((left, right) => left.turn - right.turn)
    .map(({ memberId, turn }) => {
      if (turn < currentTurn) return { memberId, turn };
      if (gone.has(memberId)) return { memberId, turn: null };
      next += 1;
      return { memberId, turn: next - 1 };
    });
}
