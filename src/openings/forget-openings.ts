import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../housekeeping/forget-rows.ts';

/**
 * How long a verdict is kept. Nothing asks for one that is older than an opening lives (minutes); it is kept this long
 * for people who ask what became of a request.
 */
const keptDays = 30;

/** Forgets old verdicts, up to `limit` of them; returns how many. What was made stays. */
export function forgetOpenings(em: EntityManager, limit: number): Promise<number> {
  return forgetRows(em, 'openings', `${keptDays} days`, limit);
}
