import { compareMoney, formatMoney, isWholeRupiah, type Money, presentMoneyAsNumber } from '../../../shared/money.ts';

/** An amount as the provider's JSON number: positive whole rupiah. Throws RangeError on anything else. */
export function wireAmount(amount: Money): number {
  if (!isWholeRupiah(amount) || compareMoney(amount, '0') <= 0) {
    throw new RangeError(`the provider accepts only positive whole rupiah, not ${amount}`);
  }
  const number = presentMoneyAsNumber(amount);
  if (!Number.isSafeInteger(number)) throw new RangeError('the amount is too large for the provider');
  return number;
}

/** The provider's JSON number as money (IDR, scale 4). Throws RangeError when it is not an amount. */
export function moneyFromWire(amount: number): Money {
  return formatMoney(String(amount));
}
