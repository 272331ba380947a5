import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { getCauseForDonation } from '../causes/find-cause.ts';
import type { SubscriptionInterval } from './subscription.ts';

export interface NewSubscription {
  cause_id: string;
  /** IDR. */
  amount: Money;
  source_account_id: string;
  interval: SubscriptionInterval;
}

/**
 * Refuses what can be refused before a subscription exists: throws NOT_FOUND for an unknown cause or account, FORBIDDEN
 * for another's account, REQUEST_INVALID for a cause that takes no donations.
 */
export async function refuseHopelessSubscription(
  em: EntityManager,
  { caller, body }: { caller: Caller; body: NewSubscription },
): Promise<void> {
  await getCauseForDonation(em, body.cause_id, { field: 'cause_id' });
  const account = await em.findOne(Account, { id: body.source_account_id });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'source_account_id' });
  if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'source_account_id' });
}
