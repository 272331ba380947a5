import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../housekeeping/forget-rows.ts';

/**
 * How long a verdict is kept. No request asks for one older than `budgets.opening.lives` (minutes); the rest is for
 * people who ask what became of a request.
 */
const keptDays = 30;

/** Deletes old verdicts, at most `limit`; returns how many. The resources that were made stay. */
export function forgetOpenings(em: EntityManager, limit: number): Promise<number> {
  return forgetRows(em, 'openings', `${keptDays} days`, limit);
}
