import type { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Payer } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { BankAccount } from './bank-account.entity.ts';
import { mayUseBankAccount } from './bank-account.ts';

/**
 * Returns a bank account that the caller may use, read afresh; `field` is its name in the request. Throws NOT_FOUND
 * when it is missing or deleted, and FORBIDDEN when it belongs to somebody else.
 */
export async function getOwnBankAccount(
  em: EntityManager,
  caller: Payer,
  id: string,
  { field, lockMode }: { field: string; lockMode?: LockMode },
): Promise<BankAccount> {
  const account = await em.findOne(BankAccount, { id }, { refresh: true, ...(lockMode !== undefined && { lockMode }) });
  if (account === null) refuse('NOT_FOUND', 'the bank account was not found', { field });
  if (!mayUseBankAccount(caller, account)) refuse('FORBIDDEN', 'the bank account is not yours', { field });
  if (account.deleted_at != null) refuse('NOT_FOUND', 'the bank account was not found', { field });
  return account;
}
