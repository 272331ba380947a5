import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { startOfWesternIndonesiaDay } from '../../shared/clock.ts';
import { refuse } from '../../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The earliest instant we pass to the database. The first day in UTC+7 begins seven hours earlier. */
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z');

/** A day of the books, in UTC+7. */
export interface BookDay {
  /** `YYYY-MM-DD`. */
  day: string;
  /** The first instant of the day. */
  from: Date;
  /** The first instant of the next day. */
  to: Date;
}

/** Returns the bounds of a day. Throws REQUEST_INVALID on `day` if it is in the future. */
export function bookDay(day: string): BookDay {
  const begins = startOfWesternIndonesiaDay(day).getTime();
  if (begins > Date.now()) refuse('REQUEST_INVALID', 'must not be in the future', { field: 'day' });
  return { day, from: new Date(Math.max(begins, earliestMs)), to: new Date(begins + dayMs) };
}

/** Returns whether the day is sealed: no journals are added to it any more, so its data is final. */
export async function isDaySealed(tx: EntityManager, { day }: BookDay): Promise<boolean> {
  const [row] = await tx.execute<{ sealed: boolean }[]>('select is_day_sealed(?) as sealed', [day]);
  return must(row, 'the query returns one row').sealed;
}
