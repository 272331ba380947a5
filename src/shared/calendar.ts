import { westernIndonesiaOffsetMs } from './clock.ts';

export type Interval = 'daily' | 'weekly' | 'monthly';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The instant `count` intervals after the first, in the calendar of UTC+7: same time of day; for months, the same day
 * or the month's last if it is shorter. Counting from the first keeps the day: 31 January, 28 February, 31 March.
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
