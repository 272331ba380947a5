import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';

/** How long refusals are kept: longer than any request runs, for people who ask what became of one. */
const keptDays = 30;

/** Deletes old refusals of payments from balances, at most `limit`; returns how many. */
export function forgetRefusals(em: EntityManager, limit: number): Promise<number> {
  return forgetRows(em, 'refused_balance_payments', `${keptDays} days`, limit);
}
