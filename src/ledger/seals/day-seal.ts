import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { startOfWesternIndonesiaDay } from '../../shared/clock.ts';
import { refuse } from '../../shared/errors.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The earliest instant we pass to the database; the first day in UTC+7 begins seven hours before it. */
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

/** The bounds of a day that has begun. Throws REQUEST_INVALID on `day` for a future one. */
export function bookDay(day: string): BookDay {
  const begins = startOfWesternIndonesiaDay(day).getTime();
  if (begins > Date.now()) refuse('REQUEST_INVALID', 'must not be in the future', { field: 'day' });
  return { day, from: new Date(Math.max(begins, earliestMs)), to: new Date(begins + dayMs) };
}

/** Whether the day is sealed: no more journals are added to it, so its data is final. */
export async function isDaySealed(tx: EntityManager, { day }: BookDay): Promise<boolean> {
  const [row] = await tx.execute<{ sealed: boolean }[]>('select is_day_sealed(?) as sealed', [day]);
  return must(row, 'the query returns one row').sealed;
}
