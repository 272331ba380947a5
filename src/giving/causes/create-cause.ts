import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { Organization } from '../../people/members/organization.entity.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { type Caller, isOrganizationAdmin, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Money } from '../../shared/money.ts';
import { Cause } from './cause.entity.ts';
import type { CauseOwnerType } from './cause.ts';
import { type CauseRow, readCause } from './find-cause.ts';

export interface NewCause {
  account_id: string;
  name: string;
  description: string;
  /** IDR. */
  target_amount: Money;
  regulations: string;
  benefit: string;
  location?: string | undefined;
  organization_id?: string | undefined;
}

interface Owner {
  ownerType: CauseOwnerType;
  organizationId: string | null;
}

/**
 * Registers a `pending` cause. Donations are credited to `account_id`, which must exist (NOT_FOUND) and belong to the
 * creator or the creator's organization (FORBIDDEN). Platform callers name an account of an organization, and create on
 * its behalf if they also send `organization_id`.
 */
export function createCause(
  em: EntityManager,
  { caller, cause, requestId }: { caller: Caller; cause: NewCause; requestId: string },
): Promise<CauseRow> {
  return em.transactional(async (tx) => {
    const { ownerType, organizationId } = await ownerOf(tx, caller, cause);
    const id = newId();
    tx.create(Cause, {
      id,
      name: cause.name,
      description: cause.description,
      target_amount: cause.target_amount,
      location: cause.location ?? null,
      regulations: cause.regulations,
      benefit: cause.benefit,
      owner_type: ownerType,
      organization_id: organizationId,
      account_id: cause.account_id,
      status: 'pending',
      created_by: caller.userId,
    });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['charitable_cause', id]);
    return readCause(tx, id);
  });
}

async function ownerOf(em: EntityManager, caller: Caller, cause: NewCause): Promise<Owner> {
  const named = cause.organization_id;
  if (named !== undefined && !isPlatform(caller)) {
    refuse('FORBIDDEN', 'only platform users can create on behalf of an organization', { field: 'organization_id' });
  }
  if (named !== undefined && (await em.findOne(Organization, { id: named })) === null) {
    refuse('NOT_FOUND', 'the organization was not found', { field: 'organization_id' });
  }
  const account = await em.findOne(Account, { id: cause.account_id });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  const notYours = (): never =>
    refuse('FORBIDDEN', 'this account cannot receive donations for you', { field: 'account_id' });
  if (isPlatform(caller)) {
    const organizationId = account.kind === 'organization' ? (account.organization_id ?? null) : null;
    if (organizationId === null || (named !== undefined && named !== organizationId)) return notYours();
    return { ownerType: named === undefined ? 'platform' : 'organization', organizationId };
  }
  if (!mayUseAccount(caller, account)) return notYours();
  return isOrganizationAdmin(caller)
    ? { ownerType: 'organization', organizationId: caller.organizationId }
    : { ownerType: 'individual', organizationId: null };
}
