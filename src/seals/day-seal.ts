import type { EntityManager } from '@mikro-orm/postgresql';
import { startOfWesternIndonesiaDay } from '../shared/clock.ts';
import { refuse } from '../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The database's calendar begins here, and a day of ours seven hours before. */
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z');
/**
 * A journal is of the day on which its transaction began, and may be committed a little later. No transaction that posts
 * one lives as long as this, so a seal that covers so much of the next day has every journal of the day before. Seals
 * are made at 01:00 UTC+7; what is left is for clocks that differ.
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

/** The bounds of a day that has begun. Refuses one in the future, about the field `day`. */
export function bookDay(day: string): BookDay {
  const begins = startOfWesternIndonesiaDay(day).getTime();
  if (begins > Date.now()) refuse('REQUEST_INVALID', 'must not be in the future', { field: 'day' });
  return { day, from: new Date(Math.max(begins, earliestMs)), to: new Date(begins + dayMs) };
}

/** Whether the day is sealed: no journal of it comes any more, and what is read of it stays what it is. */
export async function isDaySealed(tx: EntityManager, { to }: BookDay): Promise<boolean> {
  const [last] = await tx.execute<{ sealed: boolean }[]>(
    `select covers_until >= ? as sealed from seals where covers_until is not null order by number desc limit 1`,
    [new Date(to.getTime() + settlesWithinMs)],
  );
  return last?.sealed ?? false;
}
