import type { EntityManager } from '@mikro-orm/postgresql';
import { startOfWesternIndonesiaDay } from '../shared/clock.ts';
import { refuse } from '../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The earliest instant we pass to the database; the first day in UTC+7 begins seven hours before it. */
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z');
/**
 * A journal belongs to the day on which its transaction began, and may be committed a little later. No transaction that
 * posts one lasts this long, so a seal that covers this much of the next day has every journal of the day before. Seals
 * are made at 01:00 UTC+7; the rest is a margin for clock differences.
 */
const settlesWithinMs = 30 * 60 * 1000;

/** A day of the books, in UTC+7. */
export interface BookDay {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Its first instant. */
  from: Date;
  /** The first instant of the next day. */
  to: Date;
}

/** The bounds of a day that has begun. Throws REQUEST_INVALID on `day` for a future one. */
export function bookDay(day: string): BookDay {
  const begins = startOfWesternIndonesiaDay(day).getTime();
  if (begins > Date.now()) refuse('REQUEST_INVALID', 'must not be in the future', { field: 'day' });
  return { day, from: new Date(Math.max(begins, earliestMs)), to: new Date(begins + dayMs) };
}

/** Whether the day is sealed: no more journals are added to it, so what is read of it is final. */
export async function isDaySealed(tx: EntityManager, { to }: BookDay): Promise<boolean> {
  const [last] = await tx.execute<{ sealed: boolean }[]>(
    `select covers_until >= ? as sealed from seals where covers_until is not null order by number desc limit 1`,
    [new Date(to.getTime() + settlesWithinMs)],
  );
  return last?.sealed ?? false;
}
