import { Decimal } from 'decimal.js';
import { refuse } from './errors.ts';

/** Money at every boundary: IDR as a decimal string with at most four decimals, e.g. `"10000.0000"`. */
export type Money = string;

const Precise = Decimal.clone({ precision: 60, toExpNeg: -40, toExpPos: 40 });
const largestAmount = '9999999999999999.9999';
const pattern = /^-?(0|[1-9]\d{0,15})(\.\d{1,4})?$/;

function read(amount: Money): Decimal {
  if (!pattern.test(amount)) throw new RangeError(`not an amount of money: ${amount.slice(0, 40)}`);
  return new Precise(amount);
}

/** Whether a text is an amount: at most 16 digits before the point and four after, no sign but minus, no exponent. */
export function isMoney(text: string): boolean {
  return pattern.test(text);
}

/** The canonical form with four decimals, as responses and columns carry it (IDR, scale 4). Throws RangeError. */
export function formatMoney(amount: Money): Money {
  return read(amount).toFixed(4);
}

/** The sum of amounts (IDR, scale 4). Throws RangeError for anything that is not money. */
export function addMoney(...amounts: Money[]): Money {
  return amounts.reduce((sum, amount) => sum.plus(read(amount)), new Precise(0)).toFixed(4);
}

/** `left - right` (IDR, scale 4). */
export function subtractMoney(left: Money, right: Money): Money {
  return read(left).minus(read(right)).toFixed(4);
}

/** `-amount` (IDR, scale 4). */
export function negateMoney(amount: Money): Money {
  return new Precise(0).minus(read(amount)).toFixed(4);
}

const unitsOfRupiah = 10_000;

/** An amount in units of IDR 0.0001, for calculations with very many amounts. */
export const unitsOf = (amount: Money): bigint => BigInt(read(amount).times(unitsOfRupiah).toFixed(0));

/** The amount (IDR, scale 4) of a number of units of IDR 0.0001, which must not be negative. */
export function moneyOfUnits(units: bigint): Money {
  const digits = units.toString().padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** The largest amount that can be multiplied by `count` and still be an amount of money (IDR, scale 4). */
export function largestShare(count: number): Money {
  return new Precise(largestAmount).dividedBy(count).toDecimalPlaces(4, Decimal.ROUND_DOWN).toFixed(4);
}

/**
 * Splits a total in proportion to weights (none negative, at least one positive) into shares that sum to it exactly:
 * the remainder of rounding down to four decimals goes, 0.0001 each, to the shares that lost most. No share exceeds its
 * weight if the total does not exceed the sum of the weights.
 */
export function shareMoney(total: Money, weights: readonly Money[]): Money[] {
  const all = weights.reduce((sum, weight) => sum.plus(read(weight)), new Precise(0));
  const exact = weights.map((weight) => read(total).times(read(weight)).dividedBy(all));
  const shares = exact.map((share) => share.toDecimalPlaces(4, Decimal.ROUND_DOWN));
  const missing = read(total).minus(shares.reduce((sum, share) => sum.plus(share), new Precise(0)));
  const lost = (index: number): Decimal => (exact[index] ?? missing).minus(shares[index] ?? missing);
  const byLoss = exact.map((_, index) => index).sort((left, right) => lost(right).comparedTo(lost(left)));
  const filledUp = new Set(byLoss.slice(0, missing.times(unitsOfRupiah).toNumber()));
  return shares.map((share, index) => (filledUp.has(index) ? share.plus('0.0001') : share).toFixed(4));
}

/** -1, 0 or 1 if left is below, equal to or above right. */
export function compareMoney(left: Money, right: Money): -1 | 0 | 1 {
  return read(left).comparedTo(read(right)) as -1 | 0 | 1;
}

/** Whether the amount is greater than zero. */
export const isAboveZero = (amount: Money): boolean => compareMoney(amount, '0') > 0;

/** The first amount less the second, but at least zero. IDR, scale 4. */
export const leftAfter = (amount: Money, taken: Money): Money =>
  compareMoney(amount, taken) > 0 ? subtractMoney(amount, taken) : '0.0000';

/** The lesser of two amounts. */
export function lesser(left: Money, right: Money): Money {
  return compareMoney(left, right) < 0 ? left : right;
}

/** Whether the amount is whole rupiah; payment rails accept nothing else. */
export function isWholeRupiah(amount: Money): boolean {
  return read(amount).isInteger();
}

/**
 * A fee of `fixed` rupiah plus `basisPoints` of the amount, exact (never rounded), IDR. Throws REQUEST_INVALID if it
 * would need more than four decimals, or more digits than money has; `told` is its name and field in the message.
 */
export function feeOf(
  amount: Money,
  fixed: Money,
  basisPoints: number,
  told: { name: string; field: string } = { name: 'fee', field: 'amount' },
): Money {
  const { name, field } = told;
  const fee = read(fixed).plus(read(amount).times(basisPoints).dividedBy(10_000));
  if (fee.decimalPlaces() > 4) refuse('REQUEST_INVALID', `the ${name} would need more than four decimals`, { field });
  if (!isMoney(fee.toFixed(4))) refuse('REQUEST_INVALID', `the ${name} is out of range`, { field });
  return fee.toFixed(4);
}

/**
 * An amount as a JSON number, where the contract requires one ("nominal (number)"). Only for presentation: exact up to
 * 15 significant digits, the most that requests may have (docs/contract.md 0).
 */
export function presentMoneyAsNumber(amount: Money): number {
  return read(amount).toNumber();
}

/** Whole rupiah as an integer, for the search attribute `AmountIdr` (rounded down, an approximation by design). */
export function wholeRupiah(amount: Money): number {
  return read(amount).floor().toNumber();
}

/** An amount in Indonesian notation; with a fraction only if there is one. */
export function rupiah(amount: Money): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '.');
  return /[1-9]/.test(fraction) ? `Rp ${grouped},${fraction.replace(/0+$/, '')}` : `Rp ${grouped}`;
}
