import type { EntityManager } from '@mikro-orm/postgresql';
import { getCauseForDonation } from '../causes/find-cause.ts';
import type { Caller } from '../identity/caller.ts';
import { Account } from '../ledger/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { refuse } from '../shared/errors.ts';
import { subscriptionIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { findSubscription } from './find-subscriptions.ts';
import { refuseReusedKey } from './open-subscription.ts';
import type { SubscriptionInterval, SubscriptionOpening } from './subscription.ts';

export interface NewSubscription {
  cause_id: string;
  /** IDR. */
  amount: Money;
  source_account_id: string;
  interval: SubscriptionInterval;
}

export interface PreparedSubscription {
  subscriptionId: string;
  opening: SubscriptionOpening;
  /** Whether the subscription was made by an earlier request under the same key. */
  isRepeated: boolean;
}

/**
 * What can be refused before a subscription exists: an unknown cause or account (NOT_FOUND), another's account
 * (FORBIDDEN), a cause that takes no donations (REQUEST_INVALID), a key of another request. Answers what the workflow is started with.
 */
export async function prepareSubscription(
  em: EntityManager,
  {
    caller,
    body,
    key,
    requestId,
  }: { caller: Caller; body: NewSubscription; key: string | undefined; requestId: string },
): Promise<PreparedSubscription> {
  const opening: SubscriptionOpening = {
    userId: caller.userId,
    causeId: body.cause_id,
    amount: formatMoney(body.amount),
    sourceAccountId: body.source_account_id,
    interval: body.interval,
    requestId,
  };
  const subscriptionId = subscriptionIdFor(caller.userId, key);
  const existing = key === undefined ? null : await findSubscription(em, subscriptionId);
  if (existing !== null) {
    refuseReusedKey(opening, existing);
  } else {
    await getCauseForDonation(em, body.cause_id, 'cause_id');
    const account = await em.findOne(Account, { id: body.source_account_id });
    if (account === null) refuse('NOT_FOUND', 'source_account_id: no such account');
    if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'source_account_id: the account is not yours');
  }
  return { subscriptionId, opening, isRepeated: existing !== null };
}
