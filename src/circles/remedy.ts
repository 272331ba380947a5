import { type Money, moneyOfUnits, unitsOf } from '../shared/money.ts';
import type { DefaultRule } from './terms.ts';

/** Rules for missing contributions of a round: the next step and the remedy. */

/** A member with a place in the open round. */
export interface PlaceInRound {
  member_id: string;
  has_paid: boolean;
  /** Whether the member has received the pot. */
  has_received: boolean;
  /** The member's guarantee, and its used part (IDR, scale 4). */
  guarantee: Money;
  covered: Money;
}

/** A part of a missing contribution that a guarantee pays; both ids are members'. IDR, scale 4, above zero. */
export interface Cover {
  debtor: string;
  guarantor: string;
  amount: Money;
}

/** The remedy for a default. Debits are tried once a day; `cover` and `exclude` complete the pot at once. */
export type Remedy = 'cover' | 'exclude' | 'debit' | 'wait';

/**
 * Returns the remedy for missing contributions (of `amount` each, IDR). `cover`: the remaining guarantees pay, the
 * defaulter's own first, then all equally; in full or not at all. `exclude`: members who have not paid lose their
 * places, if anybody has paid. `winner_first`: members who have received but not paid are debited. Otherwise the round
 * waits.
 */
export function remedyOf(rule: DefaultRule, amount: Money, places: readonly PlaceInRound[]): Remedy {
  const missing = places.filter(({ has_paid }) => !has_paid);
  if (rule === 'cover' && missing.length > 0 && canCover(amount, places, missing.length)) return 'cover';
  if (rule === 'exclude' && missing.length > 0 && missing.length < places.length) return 'exclude';
  return rule === 'winner_first' && missing.some(({ has_received }) => has_received) ? 'debit' : 'wait';
}

/** Returns the unused part of a member's guarantee. */
const leftOf = ({ guarantee, covered }: PlaceInRound): bigint => unitsOf(guarantee) - unitsOf(covered);

function canCover(amount: Money, places: readonly PlaceInRound[], missing: number): boolean {
  const left = places.reduce((sum, place) => sum + leftOf(place), 0n);
  return unitsOf(amount) * BigInt(missing) <= left;
}

/**
 * Computes the covers of each missing contribution (of `amount`, IDR): from the member's own guarantee, then equally
 * from all.
 */
export function coversOf(amount: Money, places: readonly PlaceInRound[]): Cover[] {
  const left = new Map(places.map((place) => [place.member_id, leftOf(place)]));
  const covers: Cover[] = [];
  const take = (debtor: string, guarantor: string, part: bigint): void => {
    if (part === 0n) return;
    covers.push({ debtor, guarantor, amount: moneyOfUnits(part) });
    left.set(guarantor, (left.get(guarantor) ?? 0n) - part);
  };
  const owed = places
    .filter(({ has_paid }) => !has_paid)
    .map(({ member_id: memberId }) => {
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

/** Splits an amount into parts as equal as the available amounts allow. The parts sum to the amount. */
function alike(need: bigint, available: readonly (readonly [string, bigint])[]): [string, bigint][] {
  if (need === 0n) return [];
  // Start with the member who has least; the others pay what this one cannot.
  const byLeast = available.toSorted(([, left], [, right]) => (left < right ? -1 : Number(left > right)));
  let rest = need;
  return byLeast.map(([id, most], index) => {
    const others = byLeast.length - index;
    const part = others === 1 ? rest : least(rest / BigInt(others), most);
    rest -= part;
    return [id, part];
  });
}

const dayMs = 24 * 60 * 60 * 1000;

/** The open round as read from the database. Instants are ISO 8601. */
export interface RoundFacts {
  /** Null for a circle without terms. */
  rule: DefaultRule | null;
  graceDays: number;
  dueAt: string;
  isReminded: boolean;
  isOverdueReported: boolean;
  isDefaulted: boolean;
  /** When members were last debited. */
  remediedAt: string | null;
  remedy: Remedy;
  /** Whether an order for a missing contribution is open. */
  hasOrders: boolean;
  /** Whether members have standing orders for the round that have not been tried yet. */
  hasStandingOrders: boolean;
}

export type RoundStep = 'pay standing orders' | 'remind' | 'report overdue' | 'settle default' | 'debit';

/**
 * Returns the next step of a round with missing contributions, and when it is due (ISO 8601), or null while it waits
 * for members or their orders, which expire with the grace period at the latest.
 */
export function nextOfRound(facts: RoundFacts): { step: RoundStep; at: string } | null {
  const due = Date.parse(facts.dueAt);
  const at = (step: RoundStep, instant: number) => ({ step, at: new Date(instant).toISOString() });
  if (facts.hasStandingOrders) return at('pay standing orders', 0);
  if (!facts.isReminded && !facts.isOverdueReported) return at('remind', due - dayMs);
  if (!facts.isOverdueReported) return at('report overdue', due);
  // An order that becomes final, paid or not, signals the circle.
  if (facts.rule === null || facts.hasOrders) return null;
  const defaultAt = due + facts.graceDays * dayMs;
  if (!facts.isDefaulted || ['cover', 'exclude'].includes(facts.remedy)) return at('settle default', defaultAt);
  if (facts.remedy === 'wait') return null;
  return at('debit', facts.remediedAt === null ? defaultAt : Date.parse(facts.remediedAt) + dayMs);
}
