/** Western Indonesia Time, UTC+7, without daylight saving. */
export const westernIndonesiaOffsetMs = 7 * 60 * 60 * 1000;

/** All our times are earlier: the database refuses this and later times, from which no dates could be computed. */
export const endOfTime = new Date('2200-01-01T00:00:00.000Z');

/** `YYYY-MM-DD HH:mm:ss` in UTC+7, the form of `expired_date` (docs/contract.md 3). */
export function formatWesternIndonesia(instant: Date): string {
  return new Date(instant.getTime() + westernIndonesiaOffsetMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** When a calendar day (`YYYY-MM-DD`) begins in UTC+7. */
export function startOfWesternIndonesiaDay(day: string): Date {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) - westernIndonesiaOffsetMs);
}

/** The calendar day (`YYYY-MM-DD`) of a time in UTC+7. */
export function westernIndonesiaDay(instant: Date): string {
  return formatWesternIndonesia(instant).slice(0, 10);
}

export type Interval = 'daily' | 'weekly' | 'monthly';

export const dayMs = 24 * 60 * 60 * 1000;

/**
 * The time `count` intervals after the first, in the calendar of UTC+7: same time of day; for months, the same day or
 * the month's last if it is shorter. Counting from the first keeps the day: 31 January, 28 February, 31 March.
 */
export function addIntervals(first: Date, interval: Interval, count: number): Date {
  if (interval === 'daily') return new Date(first.getTime() + count * dayMs);
  if (interval === 'weekly') return new Date(first.getTime() + count * 7 * dayMs);
  const local = new Date(first.getTime() + westernIndonesiaOffsetMs);
  const month = local.getUTCMonth() + count;
  const lastDay = new Date(Date.UTC(local.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Date.UTC(local.getUTCFullYear(), month, Math.min(local.getUTCDate(), lastDay));
  return new Date(day + (local.getTime() % dayMs) - westernIndonesiaOffsetMs);
}
