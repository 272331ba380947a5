import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from '../identity/user.entity.ts';
import type { PaymentHandler } from '../payments/handler.ts';
import { charitableCauseDonate } from '../payments/handlers/charitable-cause-donate.ts';
import { lockSource } from '../payments/make-payments.ts';
import { payFromBalance } from '../payments/pay-from-balance.ts';
import { subscriptionPaymentIdFor } from '../shared/ids.ts';
import { completeDonation } from './donation-effects.ts';
import type { Subscription } from './subscription.entity.ts';

/**
 * Pays one period of a subscription from the donor's balance, as a balance payment like any other, inside the caller's
 * transaction. Refuses what that refuses (balance, account, cause), and a donor who may change nothing any more.
 */
export async function payPeriod(
  tx: EntityManager,
  subscription: Pick<Subscription, 'id' | 'user_id' | 'cause_id' | 'amount' | 'source_account_id'>,
  { period, requestId }: { period: number; requestId: string | null },
): Promise<void> {
  const { id, cause_id: causeId } = subscription;
  const { user_type: userType, organization_id } = await tx.findOneOrFail(User, { id: subscription.user_id });
  const payer = { userId: subscription.user_id, userType, organizationId: organization_id ?? null };
  // A payment of its own, in a transaction that is already under way.
  const { together: _, ...donation } = charitableCauseDonate;
  const periodic = {
    ...donation,
    // Whoever stops the cause waits for this period, which nobody asks for at the moment: none is paid after that.
    findTarget: (em, intent) => donation.findTarget(em, { ...intent, lock: true }),
    effect: {
      sql: (payment, settledIn) =>
        completeDonation(payment, settledIn, { type: 'subscription', causeId, subscription: { id, period } }),
    },
  } satisfies PaymentHandler;
  const sourceAccountId = subscription.source_account_id;
  // Who pays, and whether the cause takes donations, is judged after the wait for the account.
  await lockSource(tx, { payer, sourceAccountId });
  await payFromBalance(tx, periodic, {
    payer,
    transactionId: subscriptionPaymentIdFor(id, period),
    referenceId: causeId,
    sourceAccountId,
    amount: subscription.amount,
    requestId,
  });
}
