import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../find-page.ts';
import { westernIndonesiaDay } from '../shared/clock.ts';
import { Reconciliation } from './reconciliation.entity.ts';
import type { ReconciledResource, ReconciliationState } from './reconciliation.ts';

export interface ReconciliationFilter {
  day?: string | undefined;
  state?: ReconciliationState | undefined;
  resource_type?: ReconciledResource | undefined;
}

/** Differences between our books and the provider's, newest first. */
export function findReconciliations(
  em: EntityManager,
  { day, state, resource_type }: ReconciliationFilter,
  window: ListWindow,
): Promise<{ items: Reconciliation[]; total: number }> {
  const where: FilterQuery<Reconciliation> = {
    ...(day && { day }),
    ...(state && { state }),
    ...(resource_type && { resource_type }),
  };
  return findPage(em, Reconciliation, where, window);
}

const dayMs = 24 * 60 * 60 * 1000;
/** Days with open differences are compared again for so long. */
const lookBackDays = 31;

/** The days to compare at `now`: yesterday (UTC+7), and earlier ones whose differences are still open; the oldest first. */
export async function findDaysToReconcile(em: EntityManager, { at }: { at: string }): Promise<string[]> {
  const now = Date.parse(at);
  const yesterday = westernIndonesiaDay(new Date(now - dayMs));
  const rows = await em.execute<{ day: string }[]>(
    `select distinct to_char(day, 'YYYY-MM-DD') as day from reconciliations
     where state = 'open' and day < ? and day >= ? order by 1`,
    [yesterday, westernIndonesiaDay(new Date(now - lookBackDays * dayMs))],
  );
  return [...rows.map(({ day }) => day), yesterday];
}
