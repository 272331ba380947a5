import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Caller } from '../../shared/caller.ts';
import { BankAccount } from './bank-account.entity.ts';
import { type BankAccountDetails, ownerOf, placeOfBankDetails } from './bank-account.ts';

export interface OpenedBankAccount {
  account: BankAccount;
  details: BankAccountDetails;
}

/**
 * Returns a page of the bank accounts that the caller may use (the rule of `mayUseBankAccount`), without deleted ones.
 */
export async function listBankAccounts(
  em: EntityManager,
  sealer: Sealer,
  { caller, ...window }: ListWindow & { caller: Caller },
): Promise<Listed & { accounts: OpenedBankAccount[] }> {
  const { items, ...listed } = await findPage(em, BankAccount, { ...ownerOf(caller), deleted_at: null }, window);
  const open = async (account: BankAccount): Promise<OpenedBankAccount> => ({
    account,
    details: JSON.parse(await sealer.open(placeOfBankDetails(account.id), account.details_sealed)),
  });
  return { accounts: await Promise.all(items.map(open)), ...listed };
}
