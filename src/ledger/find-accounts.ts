import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../platform/database/find-page.ts';
import type { Listed } from '../platform/database/position.ts';
import { readFresh } from '../platform/database/replica.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import type { Money } from '../shared/money.ts';
import { textArray } from '../shared/postgres.ts';
import { Account } from './accounts/account.entity.ts';
import type { AccountKind } from './accounts/account.ts';

export interface AccountWithBalance {
  account: Account;
  /** IDR, scale 4. */
  balance: Money;
}

/**
 * Returns the condition for the accounts that a caller may read: the user's own; the organization's for users of type
 * `organization`; all for platform.
 */
function readableBy(caller: Caller): FilterQuery<Account> {
  if (isPlatform(caller)) return {};
  return caller.userType === 'organization' ? { organization_id: caller.organizationId } : { user_id: caller.userId };
}

/** Returns a page of the accounts that the caller may read, with balances. */
export function findAccounts(
  em: EntityManager,
  caller: Caller,
  { kind, ...window }: ListWindow & { kind?: AccountKind | undefined },
): Promise<Listed & { items: AccountWithBalance[] }> {
  const within = readableBy(caller);
  const where = kind === undefined ? within : { $and: [within, { kind }] };
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, Account, where, window, { within });
    return { items: await withBalances(reader, items), ...listed };
  });
}

/**
 * Reads an account with its balance. Throws NOT_FOUND, and FORBIDDEN when it is someone else's (docs/contract.md 0).
 */
export async function getAccount(em: EntityManager, caller: Caller, id: string): Promise<AccountWithBalance> {
  const account = await em.findOne(Account, { id });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  const readable =
    isPlatform(caller) ||
    (caller.userType === 'organization'
      ? account.organization_id === caller.organizationId
      : account.user_id === caller.userId);
  if (!readable) refuse('FORBIDDEN', 'the account is not yours', { field: 'account_id' });
  const [found] = await withBalances(em, [account]);
  if (found === undefined) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  return found;
}

/**
 * Throws unless the caller may filter by this account: NOT_FOUND if it does not exist, FORBIDDEN otherwise. Callers may
 * filter by their own accounts, organization admins by those of the organization and its users, platform by all.
 */
export async function requireAccountInReach(em: EntityManager, caller: Caller, accountId: string): Promise<void> {
  const [account] = await em.execute<{ user_id: string | null; organization_id: string | null }[]>(
    `select a.user_id, coalesce(a.organization_id, u.organization_id) as organization_id
     from accounts a left join users u on u.id = a.user_id where a.id = ?`,
    [accountId],
  );
  if (account === undefined) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  const isOfOrganization = caller.userType === 'organization' && account.organization_id === caller.organizationId;
  if (isPlatform(caller) || isOfOrganization || account.user_id === caller.userId) return;
  refuse('FORBIDDEN', 'you may not filter by this account', { field: 'account_id' });
}

async function withBalances(em: EntityManager, accounts: Account[]): Promise<AccountWithBalance[]> {
  const balanceOf = await findBalances(
    em,
    accounts.map(({ id }) => id),
  );
  return accounts.map((account) => ({ account, balance: balanceOf(account.id) }));
}

/** Returns the balances of these accounts (IDR, scale 4), in one query; an account without postings has zero. */
export async function findBalances(
  em: EntityManager,
  accountIds: readonly string[],
): Promise<(accountId: string) => Money> {
  if (accountIds.length === 0) return () => '0.0000';
  const rows = await em.execute<{ account_id: string; balance: Money }[]>(
    'select account_id, sum(balance)::text as balance from account_balances where account_id = any(?::uuid[]) group by 1',
    [textArray(accountIds)],
  );
  const balances = new Map(rows.map(({ account_id, balance }) => [account_id, balance]));
  return (accountId) => balances.get(accountId) ?? '0.0000';
}

/**
 * Returns the id of this account's owner if that person was erased, otherwise null. Waits for an erasure in progress; a
 * later one waits until the caller's transaction ends.
 */
export async function findErasedOwner(tx: EntityManager, accountId: string): Promise<string | null> {
  const [owner] = await tx.execute<{ id: string; is_erased: boolean }[]>(
    `select u.id, u.erased_at is not null as is_erased from accounts a join users u on u.id = a.user_id
     where a.id = ? and a.kind in ('user', 'saving_goal') for key share of u`,
    [accountId],
  );
  return owner?.is_erased ? owner.id : null;
}
