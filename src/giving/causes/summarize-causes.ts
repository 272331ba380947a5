import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';

export interface CauseSummary {
  /** Null when the platform asks for all organizations. */
  organization_id: string | null;
  organization_name: string | null;
  /** IDR, scale 4. */
  total_target_amount: Money;
  total_collected_amount: Money;
}

// Targets are unbounded, so their sum may exceed the range of a money amount.
const targets = 'round(coalesce(sum(c.target_amount), 0), 4)::text as total_target_amount';

/** The totals of all causes in one scan of each table, instead of calling a function for each cause. */
const ofEverything = `select null as organization_id, null as organization_name, ${targets},
  (select round(coalesce(sum(donated), 0), 4)::text from cause_totals) as total_collected_amount
  from charitable_causes c`;

const ofOrganization = `select o.id as organization_id, o.name as organization_name, ${targets},
  round(coalesce(sum(cause_current_amount(c.id)), 0), 4)::text as total_collected_amount
  from organizations o left join charitable_causes c on c.organization_id = o.id where o.id = ? group by o.id`;

/**
 * Sums targets and received amounts of an organization's causes in any status. Platform callers may name any
 * organization, or none for the total of all. Throws FOREIGN_ORGANIZATION unless the organization is the caller's own,
 * NOT_FOUND if it is unknown.
 */
export async function summarizeCauses(
  em: EntityManager,
  caller: Caller,
  organizationId: string | undefined,
): Promise<CauseSummary> {
  const own = caller.organizationId;
  if (!isPlatform(caller) && organizationId !== undefined && organizationId !== own) {
    refuse('FOREIGN_ORGANIZATION', 'you may not read the summary of another organization', {
      field: 'organization_id',
    });
  }
  const asked = isPlatform(caller) ? organizationId : own;
  const [summary] =
    asked === undefined
      ? await em.execute<CauseSummary[]>(ofEverything)
      : await em.execute<CauseSummary[]>(ofOrganization, [asked]);
  return summary ?? refuse('NOT_FOUND', 'the organization was not found', { field: 'organization_id' });
}
