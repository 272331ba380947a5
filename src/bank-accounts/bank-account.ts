import type { Caller } from '../identity/caller.ts';

/** What tells whose account at a bank it is; rests sealed. */
export interface BankAccountDetails {
  /** Digits only. */
  account_number: string;
  account_holder: string;
}

export const placeOfBankDetails = (id: string) => ({ table: 'bank_accounts', column: 'details_sealed', row: id });

/** Its owner, or the users of type `organization` of the organization that it belongs to. Platform users own none. */
export function mayUseBankAccount(
  caller: Pick<Caller, 'userId' | 'userType' | 'organizationId'>,
  account: { user_id: string; organization_id?: string | null },
): boolean {
  const { organization_id: organizationId } = account;
  if (organizationId == null) return caller.userType === 'individual' && account.user_id === caller.userId;
  return caller.userType === 'organization' && organizationId === caller.organizationId;
}
