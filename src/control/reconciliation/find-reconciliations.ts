import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { Reconciliation } from './reconciliation.entity.ts';
import type { ReconciledResource, ReconciliationState } from './reconciliation.ts';

export interface ReconciliationFilter {
  day?: string | undefined;
  state?: ReconciliationState | undefined;
  resource_type?: ReconciledResource | undefined;
}

/** Lists differences between our books and the provider's, newest first. */
export function findReconciliations(
  em: EntityManager,
  { day, state, resource_type }: ReconciliationFilter,
  window: ListWindow,
): Promise<Listed & { items: Reconciliation[] }> {
  const where: FilterQuery<Reconciliation> = {
    ...(day && { day }),
    ...(state && { state }),
    ...(resource_type && { resource_type }),
  };
  return findPage(em, Reconciliation, where, window, { within: {} });
}
