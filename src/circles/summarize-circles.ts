import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { recordRead } from '../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import type { summaryFields } from './present-circle.ts';

type CircleSummary = { [Name in keyof typeof summaryFields]: z.input<(typeof summaryFields)[Name]> };

/**
 * Builds one of two statements: a single one for both cases would read every circle for an organization's summary, too.
 */
const queryOf = (condition: string) => `select o.id as organization_id, o.name as organization_name,
    count(c.id) filter (where c.status = 'completed')::text as completed_circles,
    count(c.id) filter (where c.status = 'cancelled')::text as cancelled_circles,
    round(coalesce(sum(p.amount), 0), 4)::text as total_contribution_amount,
    coalesce(avg(c.capacity), 0)::numeric(20, 2)::text as average_capacity,
    coalesce(avg(c.current_turn), 0)::numeric(20, 2)::text as average_current_turn
  from (select) one left join organizations o on o.id = ?::uuid
  left join saving_circles c on c.deleted_at is null ${condition}
  left join lateral (select sum(amount) as amount from saving_circle_contributions
    where saving_circle_id = c.id and status = 'completed') p on true
  group by o.id`;
const ofAll = queryOf('');
const ofOrganization = queryOf('and c.organization_id = o.id');

/**
 * Sums over the circles of an organization and its users, without deleted ones; platform callers may omit the
 * organization for all circles. Throws FOREIGN_ORGANIZATION for another organization, NOT_FOUND for an unknown one.
 * Records the event RESOURCE_FETCHED.
 */
export async function summarizeCircles(
  em: EntityManager,
  { caller, organizationId, requestId }: { caller: Caller; organizationId: string | undefined; requestId: string },
): Promise<CircleSummary> {
  if (!isPlatform(caller) && organizationId !== undefined && organizationId !== caller.organizationId) {
    refuse('FOREIGN_ORGANIZATION', 'you may not read the summary of another organization', {
      field: 'organization_id',
    });
  }
  const asked = isPlatform(caller) ? organizationId : caller.organizationId;
  const [summary] = await em.execute<[CircleSummary]>(asked === undefined ? ofAll : ofOrganization, [asked ?? null]);
  if (asked !== undefined && summary.organization_id === null) {
    refuse('NOT_FOUND', 'the organization was not found', { field: 'organization_id' });
  }
  await recordRead(em, {
    resourceType: 'saving_circle_summary',
    resourceId: summary.organization_id,
    actorId: caller.userId,
    requestId,
  });
  return summary;
}
