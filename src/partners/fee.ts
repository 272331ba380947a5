import {
  addMoney,
  compareMoney,
  feeOf,
  isAboveZero,
  type Money,
  moneyOfUnits,
  subtractMoney,
  unitsOf,
} from '../shared/money.ts';
import type { FeeMode } from './partner.ts';

/** A partner's fee, and the provider's fee contained in it (internal); `fixed` in IDR, scale 4. */
export interface FeeRule {
  fixed: Money;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/** The fee of a partner without a rule. */
export const freeOfCharge: FeeRule = {
  fixed: '0.0000',
  basis_points: 0,
  provider_fixed: '0.0000',
  provider_basis_points: 0,
};

export interface Price {
  /** The amount that the customer pays. */
  gross: Money;
  fee: Money;
  /** The amount owed to the partner. */
  net: Money;
}

/**
 * The price of collecting `amount`, exact and never rounded (IDR, scale 4; docs/contract.md 8). `DEDUCTED`: gross = amount,
 * net = amount - fee. `ADDED`: gross = amount + fee, net = amount. Throws REQUEST_INVALID for a fee that would need
 * more than four decimals; the net may be zero or negative (see `isWorthwhile`).
 */
export function priceCollection(mode: FeeMode, amount: Money, { fixed, basis_points }: FeeRule): Price {
  const fee = feeOf(amount, fixed, basis_points);
  return mode === 'DEDUCTED'
    ? { gross: addMoney(amount), fee, net: subtractMoney(amount, fee) }
    : { gross: addMoney(amount, fee), fee, net: addMoney(amount) };
}

/**
 * Whether this rule can ever apply to collections of at most `most` (IDR): a deducted fee must leave something, an
 * added fee must leave room for an amount.
 */
export const canCharge = (mode: FeeMode, rule: Pick<FeeRule, 'fixed' | 'basis_points'>, most: Money): boolean =>
  mode === 'DEDUCTED'
    ? isAboveZero(subtractMoney(most, feeOf(most, rule.fixed, rule.basis_points)))
    : compareMoney(rule.fixed, most) < 0;

/** Whether a partner is owed anything at this price. */
export const isWorthwhile = ({ net }: Price): boolean => isAboveZero(net);

/** The error text for an amount that does not cover its fee. */
export const complainOfFee = (fee: Money, least: Money | null): string =>
  `does not cover the fee of IDR ${fee}: the least is IDR ${least ?? 'unknown'}`;

/** Units of IDR 0.0001 in a rupiah, and basis points in a whole. */
const tenThousand = 10_000n;
const wholeRupiah = (units: bigint): bigint => ((units + tenThousand - 1n) / tenThousand) * tenThousand;
const divisor = (left: bigint, right: bigint): bigint => (right === 0n ? left : divisor(right, left % right));

/**
 * The least amount of a collection (IDR, scale 4) that exceeds its fee, and for which the customer pays whole rupiah
 * and at least `minimum`; null if there is none.
 */
export function leastCollection(mode: FeeMode, rule: FeeShare, minimum: Money): Money | null {
  if (mode === 'ADDED') return leastWith(rule, minimum, 1n);
  const left = tenThousand - BigInt(rule.basis_points);
  if (left <= 0n) return null;
  const covering = (unitsOf(rule.fixed) * tenThousand) / left + 1n;
  const least = unitsOf(minimum);
  return moneyOfUnits(wholeRupiah(covering > least ? covering : least));
}

/** The least payout amount whose net is whole rupiah and at least `minimum`; null if there is none. */
export const leastPayout = (mode: FeeMode, rule: FeeShare, minimum: Money): Money | null =>
  mode === 'ADDED' ? moneyOfUnits(wholeRupiah(unitsOf(minimum))) : leastWith(rule, minimum, -1n);

type FeeShare = Pick<FeeRule, 'fixed' | 'basis_points'>;

/**
 * The least amount that, plus (`sign` 1) or minus (-1) its fee, is whole rupiah and at least `minimum`. Only every
 * `step`th unit has an exact fee, so the pattern repeats after at most ten thousand steps.
 */
function leastWith({ fixed, basis_points }: FeeShare, minimum: Money, sign: 1n | -1n): Money | null {
  const common = divisor(tenThousand, BigInt(basis_points));
  const step = tenThousand / common;
  const grows = step + (sign * BigInt(basis_points)) / common;
  if (grows <= 0n) return null;
  const offset = sign * unitsOf(fixed);
  const missing = unitsOf(minimum) - offset;
  const first = missing > 0n ? (missing + grows - 1n) / grows : 1n;
  const period = Number(tenThousand);
  // Not computed at each step: a batch may ask for the least amount a thousand times.
  const turn = Number(grows % tenThousand);
  let rest = Number((((grows * first + offset) % tenThousand) + tenThousand) % tenThousand);
  for (let tried = 0; tried < period; tried += 1) {
    if (rest === 0) return moneyOfUnits((first + BigInt(tried)) * step);
    rest = (rest + turn) % period;
  }
  return null;
}
