import type { EntityManager } from '@mikro-orm/postgresql';
import { openAccount } from '../ledger/accounts/open-account.ts';
import { Organization } from '../people/members/organization.entity.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordAction } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { Partner } from './partner.entity.ts';
import type { FeeMode } from './partner.ts';

export interface NewPartner {
  caller: Pick<Caller, 'userId'>;
  requestId: string;
  name: string;
  organizationId: string;
  feeMode: FeeMode;
  settlementDelayHours: number;
}

/**
 * Creates a partner account, `pending` and without limits, with its three ledger accounts. Throws REQUEST_INVALID for
 * an unknown organization.
 */
export function createPartner(em: EntityManager, input: NewPartner): Promise<Partner> {
  const { caller, requestId, name, organizationId } = input;
  return em.transactional(async (tx) => {
    const organization = await tx.findOne(Organization, { id: organizationId });
    if (organization === null)
      refuse('REQUEST_INVALID', 'the organization was not found', { field: 'organization_id' });
    const id = newId();
    const open = (kind: 'partner_available' | 'partner_pending' | 'partner_reserved', state: string) =>
      openAccount(tx, { kind, name: `${name.slice(0, 80)} ${state}`, organizationId, ownerId: id });
    const now = await readDatabaseClock(tx);
    const partner = tx.create(Partner, {
      id,
      name,
      organization_id: organizationId,
      status: 'pending',
      fee_mode: input.feeMode,
      settlement_delay_hours: input.settlementDelayHours,
      payouts_enabled: true,
      available_account_id: await open('partner_available', 'available'),
      pending_account_id: await open('partner_pending', 'pending'),
      reserved_account_id: await open('partner_reserved', 'reserved'),
      created_by: caller.userId,
      created_at: now,
      updated_at: now,
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['partner', id], {
      organization_id: organizationId,
    });
    return partner;
  });
}
