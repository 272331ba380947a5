import type { EntityManager } from '@mikro-orm/postgresql';
import type { OpenFirstAccount } from '../../people/identity/create-user.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { newId } from '../../shared/ids.ts';
import type { AccountKind } from './account.ts';

export interface NewAccount {
  id?: string;
  kind: AccountKind;
  name: string;
  userId?: string | null;
  organizationId?: string | null;
  /** The circle, goal, product or partner that the account belongs to. */
  ownerId?: string | null;
}

/**
 * Opens an IDR account with balance zero in the caller's transaction, with an event if it was requested. Returns its
 * id.
 */
export async function openAccount(
  tx: EntityManager,
  account: NewAccount,
  by?: { actorId: string; requestId: string | null },
): Promise<string> {
  const id = account.id ?? newId();
  await tx.execute(
    'insert into accounts (id, name, kind, user_id, organization_id, owner_id) values (?, ?, ?, ?, ?, ?)',
    [id, account.name, account.kind, account.userId ?? null, account.organizationId ?? null, account.ownerId ?? null],
  );
  const event = { event: 'RESOURCE_CREATED', resourceType: 'account', resourceId: id } as const;
  if (by) await recordEvent(tx, { ...event, actorId: by.actorId, requestId: by.requestId });
  return id;
}

/** Opens the first account of a new user or organization. */
export const openFirstAccount: OpenFirstAccount = (tx, owner, by) =>
  openAccount(tx, { kind: 'userId' in owner ? 'user' : 'organization', name: 'Main', ...owner }, by);

/** Opens another account for the caller: the user's own, or the organization's for its users (docs/contract.md 2). */
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
