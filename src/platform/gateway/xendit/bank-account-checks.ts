import { z } from 'zod';
import { foldForBank } from '../../../shared/bank-text.ts';
import { type BankAccountQuestion, type BankAccountState, type CallOptions, ProviderUnknown } from '../gateway.ts';
import { payoutChannelCodeOf } from './bank-codes.ts';
import { exchange, ProviderRefusal } from './client.ts';
import type { ClientSettings } from './settings.ts';

const answerShape = z.object({ status: z.string(), bank_account_holder_name: z.string().nullish() });

/**
 * Asks the provider's Name Validator (`POST /bank_account_data_requests`), which uses banks' short codes. `PENDING`
 * means that the bank has not answered yet: the next request returns its answer.
 */
export async function checkBankAccount(
  settings: ClientSettings,
  { bankCode, accountNumber, name }: BankAccountQuestion,
  options: CallOptions = {},
): Promise<BankAccountState> {
  const call = 'check bank account';
  const channelCode = payoutChannelCodeOf(bankCode);
  if (channelCode === null) throw new ProviderUnknown(`${call}: the provider has no such bank`, { neverSent: true });
  const body = {
    bank_code: channelCode.replace(/^ID_/, ''),
    bank_account_number: accountNumber,
    ...(name !== undefined && { given_name: foldForBank(name) }),
  };
  try {
    return await exchange(settings, call, options, async (client) => {
      const { status, bank_account_holder_name: holder } = answerShape.parse(await client.nameValidator.ask(body));
      if (status === 'SUCCESS') return { status: 'valid', holder: holder?.trim() || null };
      if (status === 'FAILURE' || status === 'FAILED') return { status: 'invalid', holder: null };
      throw new ProviderUnknown(`${call}: the provider answered ${status}`);
    });
  } catch (error) {
    // A refused look-up proves nothing about the account.
    if (error instanceof ProviderRefusal) throw new ProviderUnknown(`${call}: the provider answered ${error.code}`);
    throw error;
  }
}
