import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { stampOpening } from '../../platform/openings/idempotency-keys.ts';
import { createOnce } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { subscriptionIdFor } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { getCauseForDonation } from '../causes/find-cause.ts';
import { findSubscription } from './find-subscriptions.ts';
import { refuseReusedKey } from './open-subscription.ts';
import type { Subscription } from './subscription.entity.ts';
import type { SubscriptionInterval, SubscriptionOpening, SubscriptionWorkflows } from './subscription.ts';

interface NewSubscription {
  cause_id: string;
  /** IDR. */
  amount: Money;
  source_account_id: string;
  interval: SubscriptionInterval;
}

/**
 * Throws NOT_FOUND for an unknown cause or account, FORBIDDEN for someone else's account, REQUEST_INVALID for a cause
 * that does not accept donations.
 */
async function refuseHopelessSubscription(
  em: EntityManager,
  { caller, body }: { caller: Caller; body: NewSubscription },
): Promise<void> {
  await getCauseForDonation(em, body.cause_id, { field: 'cause_id' });
  const account = await em.findOne(Account, { id: body.source_account_id });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'source_account_id' });
  if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'source_account_id' });
}

/** How long a request waits for the first payment, in milliseconds. */
const firstPaymentWaitMs = budgets.requests.firstSubscriptionPayment;

export interface CreatedSubscription {
  subscription: Subscription;
  /** Whether an earlier request with the same key created it. */
  isRepeated: boolean;
}

/**
 * Creates a subscription by starting its workflow, and waits for its first payment. Throws as
 * `refuseHopelessSubscription` and the payment do, IDEMPOTENCY_KEY_REUSED for another request's key, and
 * SERVICE_UNAVAILABLE if the workflow could not be started.
 */
export async function createSubscription(
  em: EntityManager,
  { workflows }: { workflows: Pick<SubscriptionWorkflows, 'startDonationSubscription'> },
  asking: { caller: Caller; body: NewSubscription; key: string | undefined; requestId: string },
): Promise<CreatedSubscription> {
  const { caller, body, key, requestId } = asking;
  const subscriptionId = subscriptionIdFor(caller.userId, key);
  const stamp = await stampOpening(em, key === undefined ? { livesMs: firstPaymentWaitMs } : {});
  const opening: SubscriptionOpening = {
    userId: caller.userId,
    causeId: body.cause_id,
    amount: formatMoney(body.amount),
    sourceAccountId: body.source_account_id,
    interval: body.interval,
    refusesTwin: key === undefined,
    requestId,
    stamp,
  };
  const existing = key === undefined ? null : await findSubscription(em, subscriptionId);
  if (existing !== null) refuseReusedKey(opening, existing);
  const subscription = await createOnce(
    em,
    {
      resourceId: subscriptionId,
      kind: 'donation_subscription',
      stamp,
      unavailable: 'The subscription could not be started; try again',
    },
    {
      find: (place) => findSubscription(place, subscriptionId),
      prepare: async () => {
        if (existing === null) await refuseHopelessSubscription(em, { caller, body });
        return opening;
      },
      start: (stamped) => workflows.startDonationSubscription({ subscriptionId, opening: stamped }, firstPaymentWaitMs),
    },
  );
  // A request that joined another with the same key gets the same subscription if the bodies match.
  refuseReusedKey(opening, subscription);
  return { subscription, isRepeated: existing !== null };
}
