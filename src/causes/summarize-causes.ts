import type { EntityManager } from '@mikro-orm/postgresql';
import { type Caller, isPlatform } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import type { Money } from '../shared/money.ts';

export interface CauseSummary {
  /** Null when the platform asks for everything. */
  organization_id: string | null;
  organization_name: string | null;
  /** IDR, scale 4. */
  total_target_amount: Money;
  total_collected_amount: Money;
}

// Targets are wishes: their sum may be more than an amount of money can be.
const totals = `round(coalesce(sum(c.target_amount), 0), 4)::text as total_target_amount,
  round(coalesce(sum(cause_current_amount(c.id)), 0), 4)::text as total_collected_amount`;

/**
 * What the causes of an organization aim at and have received, whatever their status. Platform callers name any
 * organization, or none for everything; naming another's is refused with FOREIGN_ORGANIZATION, one that does not exist
 * with NOT_FOUND.
 */
export async function summarizeCauses(
  em: EntityManager,
  caller: Caller,
  organizationId: string | undefined,
): Promise<CauseSummary> {
  const own = caller.organizationId;
  if (!isPlatform(caller) && organizationId !== undefined && organizationId !== own) {
    refuse('FOREIGN_ORGANIZATION', 'the summary of another organization is not yours', { field: 'organization_id' });
  }
  const asked = isPlatform(caller) ? organizationId : own;
  const [summary] =
    asked === undefined
      ? await em.execute<CauseSummary[]>(
          `select null as organization_id, null as organization_name, ${totals} from charitable_causes c`,
        )
      : await em.execute<CauseSummary[]>(
          `select o.id as organization_id, o.name as organization_name, ${totals}
           from organizations o left join charitable_causes c on c.organization_id = o.id where o.id = ? group by o.id`,
          [asked],
        );
  return summary ?? refuse('NOT_FOUND', 'no such organization', { field: 'organization_id' });
}
