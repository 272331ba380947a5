import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Store } from './store.ts';

/** The input of the provider's Name Validator. */
export const bankAccountBody = z.strictObject({
  bank_code: z.string().min(1).max(100),
  bank_account_number: z.string().regex(/^\d{5,20}$/, 'must be 5 to 20 digits'),
  given_name: z.string().min(1).max(100).optional(),
});

/** Sets the account's holder by hand; with a null holder the account does not exist. */
export const heldAccountBody = bankAccountBody
  .omit({ given_name: true })
  .extend({ holder: z.string().min(1).max(100).nullable() });

export function holdBankAccount(
  store: Store,
  { bank_code, bank_account_number, holder }: z.infer<typeof heldAccountBody>,
): void {
  store.run('insert or replace into bank_accounts values (?, ?, ?)', bank_code, bank_account_number, holder);
}

/**
 * Returns an account in the provider's wire format, as set by hand, or else as its last six digits determine
 * (docs/sandbox.md); null if the caller gets no answer. The holder is the one set by hand, another person for
 * `505505`, otherwise the caller's `given_name`, if any.
 */
export function findBankAccount(
  store: Store,
  { bank_code, bank_account_number, given_name }: z.infer<typeof bankAccountBody>,
) {
  const sql = 'select holder from bank_accounts where bank_code = ? and number = ?';
  const held = store.get(sql, bank_code, bank_account_number);
  const digits = bank_account_number.slice(-6);
  if (!held && digits === '900004') return null;
  const account = { id: randomUUID(), bank_code, bank_account_number, updated: new Date().toISOString() };
  const exists = held ? held.holder !== null : digits !== '404404';
  if (!exists) return { ...account, status: 'FAILURE', failure_reason: 'INVALID_ACCOUNT' };
  const holder = held ? String(held.holder) : digits === '505505' ? 'ORANG LAIN' : given_name;
  return { ...account, status: 'SUCCESS', bank_account_holder_name: holder ?? null };
}
