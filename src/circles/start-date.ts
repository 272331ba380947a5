import { endOfTime, startOfWesternIndonesiaDay, westernIndonesiaDay } from '../shared/clock.ts';
import { refuse } from '../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
const bareDay = /^\d{4}-\d{2}-\d{2}$/;
/** A year before the last instant that is kept, so that the first rounds are due within it. */
const tooLate = new Date(endOfTime);
tooLate.setUTCFullYear(endOfTime.getUTCFullYear() - 1);

/**
 * The instant that a start date means: midnight in UTC+7 of a bare date, or the date-time itself; what is past of today
 * means now. Refuses a day before today, and one that is too far away to be kept, with REQUEST_INVALID.
 */
export function readStartDate(text: string, now: Date): { startDate: string; startsAt: Date } {
  const isDay = bareDay.test(text);
  const asked = isDay ? startOfWesternIndonesiaDay(text) : new Date(text);
  if (asked >= tooLate) {
    refuse('REQUEST_INVALID', `must be before the year ${tooLate.getUTCFullYear()}`, { field: 'start_date' });
  }
  if (westernIndonesiaDay(asked) < westernIndonesiaDay(now)) {
    refuse('REQUEST_INVALID', 'must not be before today', { field: 'start_date' });
  }
  return { startDate: isDay ? text : asked.toISOString(), startsAt: asked > now ? asked : now };
}

interface Beginning {
  start_date: string;
  starts_at: Date;
}

/**
 * Until when a circle with fewer members than it needs waits for them: its start, or, when it was set to start on the
 * day on which that was said, the end of this day (UTC+7). What is past of today means now, so such a circle has a
 * `starts_at` after the instant that its `start_date` names.
 */
export function lastHourForMembers({ start_date, starts_at }: Beginning): Date {
  const asked = bareDay.test(start_date) ? startOfWesternIndonesiaDay(start_date) : new Date(start_date);
  if (asked.getTime() === starts_at.getTime()) return starts_at;
  return new Date(startOfWesternIndonesiaDay(westernIndonesiaDay(starts_at)).getTime() + dayMs);
}
