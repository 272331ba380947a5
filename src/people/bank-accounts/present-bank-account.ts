import { z } from 'zod';
import { timestamp } from '../../platform/http/fields.ts';
import { maskNumber } from '../official-documents/official-document.ts';
import type { OpenedBankAccount } from './find-bank-accounts.ts';

export const BankAccountShape = z
  .object({
    id: z.guid(),
    bank_code: z.string(),
    account_number: z
      .string()
      .meta({ description: 'Masked: its last four digits, when they are less than half of it.' }),
    account_holder: z.string(),
    usable_at: timestamp(),
    created_at: timestamp(),
  })
  .meta({ id: 'BankAccount' });

/** A bank account as the API shows it, its number masked for everybody. */
export const presentBankAccount = ({ account, details }: OpenedBankAccount) => ({
  id: account.id,
  bank_code: account.bank_code,
  account_number: maskNumber(details.account_number),
  account_holder: details.account_holder,
  usable_at: account.usable_at.toISOString(),
  created_at: account.created_at.toISOString(),
});
