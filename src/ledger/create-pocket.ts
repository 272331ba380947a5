import type { EntityManager } from '@mikro-orm/postgresql';
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
    const owner = ofOrganization ? { organizationId: caller.organizationId } : { userId: caller.userId };
    const kind = ofOrganization ? 'organization' : 'user';
    return openAccount(tx, { kind, name, ...owner }, { actorId: caller.userId, requestId });
  });
}
