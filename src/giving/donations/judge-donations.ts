import type { EntityManager } from '@mikro-orm/postgresql';
import { holdStatus } from '../../people/members/hold-status.ts';
import { must } from '../../shared/assert.ts';
import type { Money } from '../../shared/money.ts';
import { type DonationStanding, refusalOfDonations } from '../causes/find-cause.ts';
import type { DonationRefusal } from './allocation.ts';

export interface Judgement {
  refused: { id: string; reason: DonationRefusal }[];
  allocatableCount: number;
  /** The sum of the donations that can be allocated; IDR, scale 4. */
  totalAmount: Money;
}

/**
 * Checks which of these donations can be allocated. With `lock` locks their rows in id order until the transaction
 * ends, which serializes two allocations of one donation.
 */
export async function judgeDonations(
  em: EntityManager,
  donationIds: readonly string[],
  { lock }: { lock: boolean },
): Promise<Judgement> {
  const ids = `{${donationIds.join(',')}}`;
  const [row] = await em.execute<{ refused: [string, DonationRefusal][] | null; count: number; total: Money }[]>(
    `with asked as (select id, place from unnest(?::uuid[]) with ordinality as given (id, place)),
     found as materialized (
       select id, type, status, cause_id, amount from donations where id = any(?::uuid[]) order by id
       ${lock ? 'for update' : ''}),
     judged as (
       select asked.id, asked.place, found.amount, case
         when found.id is null then 'unknown'
         when found.type <> 'open' then 'not_open'
         when found.cause_id is not null then 'allocated'
         when found.status <> 'completed' then 'not_received' end as reason
       from asked left join found on found.id = asked.id)
     select json_agg(json_build_array(id, reason) order by place) filter (where reason is not null) as refused,
       (count(*) filter (where reason is null))::integer as count,
       coalesce(sum(amount) filter (where reason is null), 0)::numeric(20, 4)::text as total
     from judged`,
    [ids, ids],
  );
  const { refused, count, total } = must(row, 'an aggregate has a row');
  return {
    refused: (refused ?? []).map(([id, reason]) => ({ id, reason })),
    allocatableCount: count,
    totalAmount: total,
  };
}

export interface ReceivingCause {
  accountId: string;
  organizationId: string | null;
}

/**
 * Returns the cause if it accepts donations, otherwise the reason (`refusalOfDonations`) or `unknown`. With `lock` its
 * status and its organization's cannot change until the transaction ends; allocations to one cause do not wait for each
 * other.
 */
export async function judgeCause(
  em: EntityManager,
  causeId: string,
  { lock }: { lock: boolean },
): Promise<ReceivingCause | { refusal: string }> {
  const [cause] = await em.execute<(DonationStanding & { account_id: string; organization_id: string | null })[]>(
    `select c.account_id, c.organization_id, c.status, c.approved_at is not null as approved, o.status as organization_status
     from charitable_causes c left join organizations o on o.id = c.organization_id where c.id = ?
     ${lock ? 'for share of c' : ''}`,
    [causeId],
  );
  if (cause === undefined) return { refusal: 'unknown' };
  // Reread in a separate statement, because the joined status may be older than the wait for the lock.
  if (lock && cause.organization_id !== null) cause.organization_status = await holdStatus(em, cause.organization_id);
  const refusal = refusalOfDonations(cause);
  if (refusal !== null) return { refusal };
  return { accountId: cause.account_id, organizationId: cause.organization_id };
}
