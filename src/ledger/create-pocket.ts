import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { openAccount } from './accounts/open-account.ts';

/**
 * Opens another account for the caller: the user's own, or the organization's for its users (docs/contract.md 1 and 2).
 */
export function createPocket(
  em: EntityManager,
  caller: Caller,
  { name, requestId }: { name: string; requestId: string },
): Promise<string> {
  return em.transactional(async (tx) => {
    const ofOrganization = caller.userType === 'organization';
    const id = await openAccount(tx, {
      kind: ofOrganization ? 'organization' : 'user',
      name,
      userId: ofOrganization ? null : caller.userId,
      organizationId: ofOrganization ? caller.organizationId : null,
    });
    await recordEvent(tx, {
      event: 'RESOURCE_CREATED',
      resourceType: 'account',
      resourceId: id,
      actorId: caller.userId,
      requestId,
    });
    return id;
  });
}
