import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** What the provider's Name Validator takes. */
export const bankAccountBody = z.strictObject({
  bank_code: z.string().min(1).max(100),
  bank_account_number: z.string().regex(/^\d{5,20}$/, 'must be 5 to 20 digits'),
  given_name: z.string().min(1).max(100).optional(),
});

/**
 * An account in the provider's wire format, by its last six digits (docs/contract.md 4); null leaves the caller without an
 * answer. It belongs to whoever is said to have it; nobody is named without that.
 */
export function findBankAccount({ bank_code, bank_account_number, given_name }: z.infer<typeof bankAccountBody>) {
  const digits = bank_account_number.slice(-6);
  if (digits === '900004') return null;
  const account = { id: randomUUID(), bank_code, bank_account_number, updated: new Date().toISOString() };
  if (digits === '404404') return { ...account, status: 'FAILURE', failure_reason: 'INVALID_ACCOUNT' };
  const holder = digits === '505505' ? 'ORANG LAIN' : given_name;
  return { ...account, status: 'SUCCESS', bank_account_holder_name: holder ?? null };
}
