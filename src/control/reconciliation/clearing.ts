import { addMoney, compareMoney, type Money, subtractMoney } from '../../shared/money.ts';

/** The arithmetic of comparing gateway clearing with the provider's balance. Workflows use it too. */

/** Both balances at one moment, IDR, scale 4. */
export interface ClearingMeasurement {
  /** `YYYY-MM-DD`, in UTC+7. */
  day: string;
  /** Our books were read at the first instant, and the provider had answered by the second; ISO 8601. */
  readAt: string;
  answeredAt: string;
  /** The balance that the provider reports. */
  providerBalance: Money;
  /** The balance at the provider in our books: gateway clearing's, negated. */
  clearingBalance: Money;
  /** The start of `booked`, ISO 8601: it sums bookings from this instant until the books were read. */
  bookedSince: string;
  booked: Booked;
}

/** Money that reached the provider and money that left it. */
export interface Moved {
  received: Money;
  spent: Money;
}

/** Money booked as received and spent, and the returned reservations of failed transfers. */
export interface Booked extends Moved {
  returned: Money;
}

/**
 * The range that certainly contains the provider's balance minus ours. Its ends are equal while no money is in transit.
 */
export interface OffsetRange {
  low: Money;
  high: Money;
}

/**
 * Returns the range that one measurement allows, given the money in transit: money booked as received just afterwards
 * may already have been at the provider, and money sent or booked as spent just afterwards may already have left it.
 */
export function rangeOf(
  measured: Pick<ClearingMeasurement, 'providerBalance' | 'clearingBalance'>,
  { received, spent }: Moved,
): OffsetRange {
  const apart = subtractMoney(measured.providerBalance, measured.clearingBalance);
  return { low: subtractMoney(apart, received), high: addMoney(apart, spent) };
}

/**
 * Returns the difference that money in transit does not explain, given the days that agreed: 0, or how much more
 * (positive) or less (negative) the provider has. Agreeing days narrow the range, so that small differences do not add
 * up unnoticed.
 */
export function judgeRange(
  agreed: OffsetRange | null,
  measured: OffsetRange,
): { difference: Money; range: OffsetRange } {
  if (agreed === null) return { difference: '0.0000', range: measured };
  if (compareMoney(measured.low, agreed.high) > 0) {
    return { difference: subtractMoney(measured.low, agreed.high), range: measured };
  }
  if (compareMoney(measured.high, agreed.low) < 0) {
    return { difference: subtractMoney(measured.high, agreed.low), range: measured };
  }
  const low = compareMoney(measured.low, agreed.low) > 0 ? measured.low : agreed.low;
  const high = compareMoney(measured.high, agreed.high) < 0 ? measured.high : agreed.high;
  return { difference: '0.0000', range: { low, high } };
}

/** The result of a day. */
export interface ClearingVerdict {
  day: string;
  agreed: boolean;
  difference: Money;
}
