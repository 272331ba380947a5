import { compareMoney, formatMoney, isWholeRupiah, type Money, presentMoneyAsNumber } from '../../../shared/money.ts';

/** Converts an amount to the provider's JSON number. Throws RangeError unless it is positive whole rupiah. */
export function wireAmount(amount: Money): number {
  if (!isWholeRupiah(amount) || compareMoney(amount, '0') <= 0) {
    throw new RangeError(`the provider accepts only positive whole rupiah, not ${amount}`);
  }
  const number = presentMoneyAsNumber(amount);
  if (!Number.isSafeInteger(number)) throw new RangeError('the amount is too large for the provider');
  return number;
}

/** Converts the provider's JSON number to money (IDR, scale 4). Throws RangeError if it is not an amount. */
export function moneyFromWire(amount: number): Money {
  return formatMoney(String(amount));
}
