import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { refuse } from '../../shared/errors.ts';
import type { PaymentHandler, PaymentIntent } from './handler.ts';

/** A top-up of an account that the caller may use; gateway only. */
export const accountTopUp = {
  referenceType: 'account_top_up' as const,
  referenceOf: 'the account topped up; for a withdrawal, its payout',
  permission: 'top-up-account',
  rails: ['gateway'],
  ledgerReferenceType: 'account_top_up',
  gatewayPurpose: 'topup_pocket',
  async findTarget(em, { referenceId, caller }: Pick<PaymentIntent, 'referenceId' | 'caller'>) {
    const account = await em.findOne(Account, { id: referenceId });
    if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'reference_id' });
    if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'reference_id' });
    return { accountId: account.id };
  },
} satisfies PaymentHandler;
