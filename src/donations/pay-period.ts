import type { EntityManager } from '@mikro-orm/postgresql';
import type { UserType } from '../identity/user.ts';
import { mayChangeThings, type OrganizationStatus } from '../organizations/organization.ts';
import type { PaymentHandler } from '../payments/handler.ts';
import { charitableCauseDonate } from '../payments/handlers/charitable-cause-donate.ts';
import { payFromBalance } from '../payments/pay-from-balance.ts';
import { refuse } from '../shared/errors.ts';
import { subscriptionPaymentIdFor } from '../shared/ids.ts';
import { completeDonation } from './donation-effects.ts';
import type { Subscription } from './subscription.entity.ts';

interface PayerRow {
  status: string;
  user_type: UserType;
  organization_id: string | null;
  organization_status: OrganizationStatus | null;
}

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
  const [payer] = await tx.execute<PayerRow[]>(
    `select u.status, u.user_type, u.organization_id, o.status as organization_status
     from users u left join organizations o on o.id = u.organization_id where u.id = ?`,
    [subscription.user_id],
  );
  if (payer?.status !== 'active' || !mayChangeThings(payer.organization_status)) {
    return refuse('FORBIDDEN', 'the donor is not active');
  }
  // A payment of its own, in a transaction that is already under way.
  const { together: _, ...donation } = charitableCauseDonate;
  const periodic = {
    ...donation,
    effect: {
      sql: (payment, settledIn) =>
        completeDonation(payment, settledIn, { type: 'subscription', causeId, subscription: { id, period } }),
    },
  } satisfies PaymentHandler;
  await payFromBalance(tx, periodic, {
    payer: { userId: subscription.user_id, userType: payer.user_type, organizationId: payer.organization_id },
    transactionId: subscriptionPaymentIdFor(id, period),
    referenceId: causeId,
    sourceAccountId: subscription.source_account_id,
    amount: subscription.amount,
    requestId,
  });
}
