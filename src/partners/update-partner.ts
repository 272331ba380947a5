import type { EntityManager } from '@mikro-orm/postgresql';
import { Organization } from '../people/members/organization.entity.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordAction, recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { changesTo } from '../shared/changes.ts';
import { refuse } from '../shared/errors.ts';
import type { Money } from '../shared/money.ts';
import { lockPartner } from './find-partner.ts';
import type { Partner } from './partner.entity.ts';
import type { FeeMode, PartnerStatus } from './partner.ts';
import { findFees, refuseHopeless } from './set-fees.ts';

interface Change {
  caller: Pick<Caller, 'userId'>;
  requestId: string;
  partnerId: string;
}

export interface PartnerChanges {
  name?: string | undefined;
  status?: PartnerStatus | undefined;
  payouts_enabled?: boolean | undefined;
  fee_mode?: FeeMode | undefined;
  settlement_delay_hours?: number | undefined;
}

/**
 * Changes a partner account. Throws REQUEST_INVALID if it would activate a partner whose organization is not `active`,
 * or set a fee mode in which a rule of the fee table could never apply.
 */
export function updatePartner(em: EntityManager, input: Change & { changes: PartnerChanges }): Promise<Partner> {
  return em.transactional(async (tx) => {
    const partner = await lockPartner(tx, input.partnerId);
    const { status } = input.changes;
    if (status === 'active' && partner.status !== 'active') {
      const organization = await tx.findOneOrFail(Organization, { id: partner.organization_id });
      if (organization.status !== 'active') {
        refuse('REQUEST_INVALID', `the organization is ${organization.status}; activation needs an active one`, {
          field: 'status',
        });
      }
    }
    const previousStatus = partner.status;
    const changes = changesTo<PartnerChanges>(partner, input.changes);
    if (Object.keys(changes).length === 0) return partner;
    if (changes.fee_mode) await refuseHopeless(tx, changes.fee_mode, await findFees(tx, partner.id), 'fee_mode');
    tx.assign(partner, { ...changes, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      ...(changes.status === undefined && changes.payouts_enabled === undefined ? {} : { impact: 'HIGH' as const }),
      resourceType: 'partner',
      resourceId: partner.id,
      actorId: input.caller.userId,
      requestId: input.requestId,
      data: { ...changes, ...(changes.status === undefined ? {} : { previous_status: previousStatus }) },
    });
    return partner;
  });
}

export interface PayoutLimits {
  max_payout_amount: Money;
  max_daily_amount: Money;
  max_hourly_count: number;
}

/** Sets all three payout limits (amounts in IDR, scale 4). */
export function setPartnerLimits(em: EntityManager, input: Change & { limits: PayoutLimits }): Promise<Partner> {
  return em.transactional(async (tx) => {
    const partner = await lockPartner(tx, input.partnerId);
    tx.assign(partner, { ...input.limits, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordAction(tx, input, ['RESOURCE_UPDATED', 'HIGH'], ['partner', partner.id], { ...input.limits });
    return partner;
  });
}
