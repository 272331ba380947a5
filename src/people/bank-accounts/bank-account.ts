import type { Caller } from '../../shared/caller.ts';

/** Number and holder of a bank account; stored sealed. */
export interface BankAccountDetails {
  /** Digits only. */
  account_number: string;
  account_holder: string;
}

export const placeOfBankDetails = (id: string) => ({ table: 'bank_accounts', column: 'details_sealed', row: id });

/**
 * Returns the owner of a caller's bank accounts and withdrawals: the organization of a user of type `organization`,
 * otherwise the user.
 */
export const ownerOf = ({
  userId,
  userType,
  organizationId,
}: Pick<Caller, 'userId' | 'userType' | 'organizationId'>) =>
  userType === 'organization' ? { organization_id: organizationId } : { user_id: userId, organization_id: null };

/**
 * Returns whether the caller is the account's owner or a user of type `organization` of the organization that owns it;
 * never true for platform users.
 */
export function mayUseBankAccount(
  caller: Pick<Caller, 'userId' | 'userType' | 'organizationId'>,
  account: { user_id: string; organization_id?: string | null },
): boolean {
  const { organization_id: organizationId } = account;
  if (organizationId == null) return caller.userType === 'individual' && account.user_id === caller.userId;
  return caller.userType === 'organization' && organizationId === caller.organizationId;
}
