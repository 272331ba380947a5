import { type Money, moneyOfUnits, unitsOf } from '../shared/money.ts';
import type { DefaultRule } from './terms.ts';

/** A member with a place in the open round. */
export interface PlaceInRound {
  memberId: string;
  hasPaid: boolean;
  /** Whether the member's turn to receive is over. */
  hasReceived: boolean;
  /** The rest of the member's guarantee (IDR, scale 4). */
  guaranteeLeft: Money;
  /** Whether an order for the contribution is open: it may have been paid without our knowledge. */
  hasOrder?: boolean;
}

/** A part of a missing contribution paid by a guarantee; both ids are members'. IDR, scale 4, above zero. */
export interface Cover {
  debtor: string;
  guarantor: string;
  amount: Money;
}

/**
 * The remedy of a default, with the members it concerns; what covers them, `coversOf` says. Debits are tried once a day;
 * `cover` and `exclude` complete the pot at once.
 */
export type Remedy =
  | { kind: 'cover'; members: string[] }
  | { kind: 'exclude'; members: string[] }
  | { kind: 'debit'; members: string[] }
  | { kind: 'wait' };

/**
 * The remedy of a round that misses contributions (of `amount` each, IDR). `cover`: from what is left of guarantees,
 * the defaulter's own first, then equally from all; in full or not at all. `exclude`: who has not paid loses their
 * place, if anybody has paid. `winner_first`: who has received and not paid is debited. Otherwise the round waits.
 */
export function remedyOf(rule: DefaultRule, amount: Money, places: readonly PlaceInRound[]): Remedy {
  const missing = places.filter(({ hasPaid }) => !hasPaid);
  if (missing.length === 0) return { kind: 'wait' };
  const unpaid = missing.map(({ memberId }) => memberId);
  if (rule === 'cover') {
    return canCover(amount, places, missing.length) ? { kind: 'cover', members: unpaid } : { kind: 'wait' };
  }
  if (rule === 'exclude' && missing.length < places.length) {
    return { kind: 'exclude', members: unpaid };
  }
  const winners = missing.filter(({ hasReceived }) => hasReceived).map(({ memberId }) => memberId);
  return rule === 'winner_first' && winners.length > 0 ? { kind: 'debit', members: winners } : { kind: 'wait' };
}

/** Whether what is left of all guarantees pays all that is missing. */
function canCover(amount: Money, places: readonly PlaceInRound[], missing: number): boolean {
  const left = places.reduce((sum, { guaranteeLeft }) => sum + unitsOf(guaranteeLeft), 0n);
  return unitsOf(amount) * BigInt(missing) <= left;
}

/**
 * What covers a round whose remedy is `cover`: of each missing contribution (of `amount`, IDR) first what is left of the
 * member's own guarantee, then parts as equal as what is left of all guarantees allows.
 */
export function coversOf(amount: Money, places: readonly PlaceInRound[]): Cover[] {
  const left = new Map(places.map(({ memberId, guaranteeLeft }) => [memberId, unitsOf(guaranteeLeft)]));
  const covers: Cover[] = [];
  const take = (debtor: string, guarantor: string, part: bigint): void => {
    if (part === 0n) return;
    covers.push({ debtor, guarantor, amount: moneyOfUnits(part) });
    left.set(guarantor, (left.get(guarantor) ?? 0n) - part);
  };
  const owed = places
    .filter(({ hasPaid }) => !hasPaid)
    .map(({ memberId }) => {
      const own = least(unitsOf(amount), left.get(memberId) ?? 0n);
      take(memberId, memberId, own);
      return { debtor: memberId, rest: unitsOf(amount) - own };
    });
  for (const { debtor, rest } of owed) {
    for (const [guarantor, part] of alike(rest, [...left])) take(debtor, guarantor, part);
  }
  return covers;
}

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right);

/** Splits a need into parts as equal as what each has available allows; together they cover it. */
function alike(need: bigint, available: readonly (readonly [string, bigint])[]): [string, bigint][] {
  if (need === 0n) return [];
  // From the member with the least: what they cannot give is taken from the others.
  const byLeast = available.toSorted(([, left], [, right]) => (left < right ? -1 : Number(left > right)));
  let rest = need;
  return byLeast.map(([id, most], index) => {
    const others = byLeast.length - index;
    const part = others === 1 ? rest : least(rest / BigInt(others), most);
    rest -= part;
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
