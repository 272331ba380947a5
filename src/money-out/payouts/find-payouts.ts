import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { Payout } from './payout.entity.ts';
import type { PayoutStatus } from './payout.ts';

export interface PayoutFilter {
  status?: PayoutStatus | undefined;
  external_ref?: string | undefined;
  /** The platform's own. */
  reference?: string | undefined;
  bank_code?: string | undefined;
  from?: Date | undefined;
  /** Exclusive end of the period. */
  to?: Date | undefined;
}

/** A partner's own payouts, newest first. */
export function findPayouts(
  em: EntityManager,
  partnerId: string,
  { from, to, ...columns }: PayoutFilter,
  window: ListWindow,
): Promise<Listed & { items: Payout[] }> {
  const within = { partner_id: partnerId, kind: 'partner_payout' } as const;
  const where: FilterQuery<Payout> = {
    ...within,
    ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
    ...(from === undefined && to === undefined
      ? {}
      : { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
  return findPage(em, Payout, where, window, { within });
}

/** A partner's payout. Throws RESOURCE_NOT_FOUND when it does not exist or belongs to another partner. */
export async function getPayout(em: EntityManager, partnerId: string, id: string): Promise<Payout> {
  const payout = await em.findOne(Payout, { id, partner_id: partnerId, kind: 'partner_payout' });
  return payout ?? refuse('RESOURCE_NOT_FOUND', 'The payout was not found');
}

/** Reads the payouts whose ids these rows have; returns a function from a row to its payout. */
export async function findPayoutsOf(
  em: EntityManager,
  rows: { id: string }[],
): Promise<(row: { id: string }) => Payout> {
  const found = await em.find(Payout, { id: { $in: rows.map(({ id }) => id) } });
  const byId = new Map(found.map((payout) => [payout.id, payout]));
  return ({ id }) => must(byId.get(id), 'the row is of a payout');
}
