import { addMoney, compareMoney, feeOf, isAboveZero, type Money, subtractMoney } from '../shared/money.ts';
import type { FeeMode } from './partner.ts';

/** What a partner is charged, and the provider's share of it (internal); `fixed` in IDR, scale 4. */
export interface FeeRule {
  fixed: Money;
  basis_points: number;
  provider_fixed: Money;
  provider_basis_points: number;
}

/** The rule that applies where a partner has none. */
export const freeOfCharge: FeeRule = {
  fixed: '0.0000',
  basis_points: 0,
  provider_fixed: '0.0000',
  provider_basis_points: 0,
};

export interface Price {
  /** What the customer pays. */
  gross: Money;
  fee: Money;
  /** What the partner is owed. */
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
 * Whether a collection of at most `most` (IDR) can ever be charged by this rule: deducted, it has to leave something;
 * added, it has to leave room for an amount.
 */
export const canCharge = (mode: FeeMode, rule: Pick<FeeRule, 'fixed' | 'basis_points'>, most: Money): boolean =>
  mode === 'DEDUCTED'
    ? isAboveZero(subtractMoney(most, feeOf(most, rule.fixed, rule.basis_points)))
    : compareMoney(rule.fixed, most) < 0;

/** Whether a partner is owed anything at this price. */
export const isWorthwhile = ({ net }: Price): boolean => isAboveZero(net);
