import type { Payer } from '../shared/caller.ts';
import type { AccountKind } from './accounts/account.ts';

interface OwnedAccount {
  kind: AccountKind;
  user_id?: string | null;
  organization_id?: string | null;
}

/**
 * Returns whether the caller may pay from or into the account as its owner: individuals use their own `user` accounts,
 * users of type `organization` those of their organization (docs/contract.md 2). Platform users own none.
 */
export function mayUseAccount(caller: Payer, account: OwnedAccount): boolean {
  if (account.kind === 'user') return account.user_id === caller.userId;
  if (account.kind === 'organization') {
    return caller.userType === 'organization' && account.organization_id === caller.organizationId;
  }
  return false;
}
