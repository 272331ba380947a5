import type { Account } from './accounts/account.entity.ts';

/** An account as the API shows it, with its balance (IDR, scale 4). */
export const presentAccount = (account: Account, balance: string) => ({
  id: account.id,
  name: account.name,
  kind: account.kind,
  user_id: account.user_id ?? null,
  organization_id: account.organization_id ?? null,
  owner_id: account.owner_id ?? null,
  currency: account.currency,
  balance,
  created_at: account.created_at.toISOString(),
});
