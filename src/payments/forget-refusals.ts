import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../housekeeping/forget-rows.ts';

/** How long refusals are kept: longer than any request is under way, for people who ask what became of one. */
const keptDays = 30;

/** Forgets old refusals of payments from balances, up to `limit` of them; returns how many. */
export function forgetRefusals(em: EntityManager, limit: number): Promise<number> {
  return forgetRows(em, 'refused_balance_payments', `${keptDays} days`, limit);
}
