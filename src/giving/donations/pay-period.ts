import type { EntityManager } from '@mikro-orm/postgresql';
import { lockSource } from '../../ledger/lock-order.ts';
import type { PaymentHandler } from '../../money-in/payments/handler.ts';
import { payFromBalance } from '../../money-in/payments/pay-from-balance.ts';
import { User } from '../../people/members/user.entity.ts';
import type { Payer } from '../../shared/caller.ts';
import { subscriptionPaymentIdFor } from '../../shared/ids.ts';
import { charitableCauseDonate } from './charitable-cause-donate.ts';
import { completeDonation } from './donation-effects.ts';
import type { Subscription } from './subscription.entity.ts';

/**
 * Pays one period of a subscription from the donor's balance, in the caller's transaction. Throws as `payFromBalance`
 * does (balance, account, cause), and for a donor who is no longer active.
 */
export async function payPeriod(
  tx: EntityManager,
  subscription: Pick<Subscription, 'id' | 'user_id' | 'cause_id' | 'amount' | 'source_account_id'>,
  { period, requestId }: { period: number; requestId: string | null },
): Promise<void> {
  const { id, cause_id: causeId } = subscription;
  const payer = await readPayerOf(tx, subscription);
  const periodic = {
    ...charitableCauseDonate,
    // Lock the cause, so that a stop waits for this period and no later period is paid.
    findTarget: (em, intent) => charitableCauseDonate.findTarget(em, { ...intent, lock: true }),
    effect: {
      inTransaction: (inner, payment, transactionId) =>
        completeDonation(inner, payment, transactionId, {
          type: 'subscription',
          causeId,
          subscription: { id, period },
        }),
    },
  } satisfies PaymentHandler;
  const sourceAccountId = subscription.source_account_id;
  // Check payer and cause only after the wait for the account's lock.
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

/**
 * Locks the source account and the cause of a period before a row refers to the cause: its insert would take a weaker
 * lock on the cause first and deadlock with a concurrent disbursement. Throws as `lockSource` does.
 */
export async function holdPeriod(
  tx: EntityManager,
  subscription: Pick<Subscription, 'user_id' | 'cause_id' | 'source_account_id'>,
): Promise<void> {
  const payer = await readPayerOf(tx, subscription);
  await lockSource(tx, { payer, sourceAccountId: subscription.source_account_id });
  await tx.execute('select from charitable_causes where id = ? for share', [subscription.cause_id]);
}

async function readPayerOf(tx: EntityManager, { user_id: userId }: Pick<Subscription, 'user_id'>): Promise<Payer> {
  const { user_type: userType, organization_id } = await tx.findOneOrFail(User, { id: userId });
  return { userId, userType, organizationId: organization_id ?? null };
}
