import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { Payout } from './payout.entity.ts';
import type { PayoutKind, PayoutStatus } from './payout.ts';

export interface PayoutFilter {
  partner_id?: string | undefined;
  kind?: PayoutKind | undefined;
  status?: PayoutStatus | undefined;
  external_ref?: string | undefined;
  /** The platform's own reference. */
  reference?: string | undefined;
  bank_code?: string | undefined;
  from?: Date | undefined;
  /** Exclusive end of the period. */
  to?: Date | undefined;
}

const whereOf = ({ from, to, ...columns }: PayoutFilter): FilterQuery<Payout> => ({
  ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
  ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
});

/** A partner's own payouts, newest first. */
export function findPayouts(
  em: EntityManager,
  partnerId: string,
  filter: PayoutFilter,
  window: ListWindow,
): Promise<Listed & { items: Payout[] }> {
  const within = { partner_id: partnerId, kind: 'partner_payout' } as const;
  return findPage(em, Payout, whereOf({ ...filter, ...within }), window, { within });
}

/** A payout of any kind, with the fields of its kind; the others are null. */
export interface OwnedPayout {
  payout: Payout;
  /** The user of a withdrawal. */
  user_id: string | null;
  organization_id: string | null;
  /** The cause of a disbursement. */
  cause_id: string | null;
  /** The payment refunded. */
  payment_id: string | null;
}

/** The rows that name a payout's payment or user; of a user the newest thousand. */
const idsBy = {
  payment_id: 'select id from payment_refunds where payment_id = ?',
  user_id: 'select id from withdrawals where user_id = ? order by created_at desc, id desc limit 1000',
} as const;

/** Payouts of every kind and owner, newest first. */
export function findAllPayouts(
  em: EntityManager,
  { payment_id, user_id, ...filter }: PayoutFilter & { [Name in keyof typeof idsBy]?: string | undefined },
  window: ListWindow,
): Promise<Listed & { items: OwnedPayout[] }> {
  return readFresh(em, async (reader) => {
    const where: FilterQuery<Payout>[] = [whereOf(filter)];
    for (const [sql, value] of [
      [idsBy.payment_id, payment_id],
      [idsBy.user_id, user_id],
    ] as const) {
      if (value === undefined) continue;
      const ids = await reader.execute<{ id: string }[]>(sql, [value]);
      where.push({ id: { $in: ids.map(({ id }) => id) } });
    }
    const { items, ...listed } = await readPage(reader, Payout, { $and: where }, window, { within: {} });
    return { items: await withOwners(reader, items), ...listed };
  });
}

/** A payout of any kind. Throws NOT_FOUND. */
export async function getAnyPayout(em: EntityManager, id: string): Promise<OwnedPayout> {
  const payout = (await em.findOne(Payout, { id })) ?? refuse('NOT_FOUND', 'the payout was not found', { field: 'id' });
  const [owned] = await withOwners(em, [payout]);
  return must(owned, 'every payout has an owner');
}

async function withOwners(em: EntityManager, payouts: readonly Payout[]): Promise<OwnedPayout[]> {
  const rows = await em.execute<(Omit<OwnedPayout, 'payout'> & { id: string })[]>(
    `select p.id, w.user_id, w.organization_id, w.cause_id, r.payment_id from unnest(?::uuid[]) p (id)
     left join withdrawals w on w.id = p.id left join payment_refunds r on r.id = p.id`,
    [textArray(payouts.map(({ id }) => id))],
  );
  const byId = new Map(rows.map(({ id, ...owner }) => [id, owner]));
  return payouts.map((payout) => ({ payout, ...must(byId.get(payout.id), 'every payout was found') }));
}

/** A partner's payout. Throws RESOURCE_NOT_FOUND if it does not exist or belongs to another partner. */
export async function getPayout(em: EntityManager, partnerId: string, id: string): Promise<Payout> {
  const payout = await em.findOne(Payout, { id, partner_id: partnerId, kind: 'partner_payout' });
  return payout ?? refuse('RESOURCE_NOT_FOUND', 'The payout was not found');
}

/** Reads the payouts with the ids of these rows; returns a function from a row to its payout. */
export async function findPayoutsOf(
  em: EntityManager,
  rows: { id: string }[],
): Promise<(row: { id: string }) => Payout> {
  const found = await em.find(Payout, { id: { $in: rows.map(({ id }) => id) } });
  const byId = new Map(found.map((payout) => [payout.id, payout]));
  return ({ id }) => must(byId.get(id), 'the row belongs to a payout');
}
