import { endOfTime, startOfWesternIndonesiaDay, westernIndonesiaDay } from '../shared/clock.ts';
import { refuse } from '../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
const bareDay = /^\d{4}-\d{2}-\d{2}$/;
/** A year before the last instant that can be stored, so that the first rounds can be stored too. */
const tooLate = new Date(endOfTime);
tooLate.setUTCFullYear(endOfTime.getUTCFullYear() - 1);

interface Beginning {
  start_date: string;
  starts_at: Date;
}

/**
 * Returns the instant of a start date: midnight in UTC+7 for a bare date, or the date-time itself; now for an instant
 * earlier today. Throws REQUEST_INVALID for a day before today and for one too far in the future.
 */
export function readStartDate(text: string, now: Date): Beginning {
  const isDay = bareDay.test(text);
  const asked = isDay ? startOfWesternIndonesiaDay(text) : new Date(text);
  if (asked >= tooLate) {
    refuse('REQUEST_INVALID', `must be before the year ${tooLate.getUTCFullYear()}`, { field: 'start_date' });
  }
  if (westernIndonesiaDay(asked) < westernIndonesiaDay(now)) {
    refuse('REQUEST_INVALID', 'must not be before today', { field: 'start_date' });
  }
  return { start_date: isDay ? text : asked.toISOString(), starts_at: asked > now ? asked : now };
}

/**
 * Returns the time until which a circle with too few members waits: its start or, if it was set to start on the day of
 * the request, the end of that day (UTC+7), in which case `starts_at` is after `start_date`.
 */
export function lastHourForMembers({ start_date, starts_at }: Beginning): Date {
  const asked = bareDay.test(start_date) ? startOfWesternIndonesiaDay(start_date) : new Date(start_date);
  if (asked.getTime() === starts_at.getTime()) return starts_at;
  return new Date(startOfWesternIndonesiaDay(westernIndonesiaDay(starts_at)).getTime() + dayMs);
}
