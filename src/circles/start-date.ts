import { startOfWesternIndonesiaDay, westernIndonesiaDay } from '../shared/clock.ts';
import { refuse } from '../shared/errors.ts';

const bareDay = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The instant that a start date means: midnight in UTC+7 of a bare date, or the date-time itself; what is past of today
 * means now. Refuses a day before today with REQUEST_INVALID.
 */
export function readStartDate(text: string, now: Date): { startDate: string; startsAt: Date } {
  const isDay = bareDay.test(text);
  const asked = isDay ? startOfWesternIndonesiaDay(text) : new Date(text);
  if (westernIndonesiaDay(asked) < westernIndonesiaDay(now)) {
    refuse('REQUEST_INVALID', 'start_date: must not be before today');
  }
  return { startDate: isDay ? text : asked.toISOString(), startsAt: asked > now ? asked : now };
}
