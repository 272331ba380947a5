import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../identity/read-payer.ts';
import { isVerdict } from '../openings/open-once.ts';
import { lockSource } from '../payments/balance-payment.ts';
import { savingCircleContribution } from '../payments/handlers/saving-circle-contribution.ts';
import { payFromBalance } from '../payments/pay-from-balance.ts';
import { circlePaymentIdFor } from '../shared/ids.ts';
import { cancelPendingContributions } from './cancel-pending.ts';
import { CircleMember } from './circle-member.entity.ts';
import { shareCircle } from './lock-circle.ts';

export interface PaymentForMember {
  circleId: string;
  memberId: string;
  /** The turn to pay for: no other round is paid. */
  turn: number;
  /** Null: the account the member joined with. */
  sourceAccountId: string | null;
}

/**
 * Pays a member's contribution to the open round without a request, as the member agreed before: an ordinary balance
 * payment in a transaction of its own, at most once per turn. Returns whether this call paid it: a refusal (low
 * balance, suspended member, round over) changes nothing.
 */
export async function payForMember(
  em: EntityManager,
  { circleId, memberId, turn, sourceAccountId }: PaymentForMember,
): Promise<boolean> {
  try {
    return await em.transactional(async (tx) => {
      const member = await tx.findOneOrFail(CircleMember, { id: memberId }, { refresh: true });
      const payer = await readPayer(tx, member.user_id);
      const source = sourceAccountId ?? member.account_id;
      await lockSource(tx, { payer, sourceAccountId: source });
      const circle = await shareCircle(tx, circleId);
      if (circle.current_turn !== turn || !(await isAgreed(tx, { memberId, sourceAccountId }))) return false;
      // A debit comes after the provider was asked; an order that was made since gives way to it.
      if (sourceAccountId === null) await cancelPendingContributions(tx, { circleId, turn, memberIds: [memberId] });
      await payFromBalance(tx, savingCircleContribution, {
        payer,
        transactionId: circlePaymentIdFor(memberId, turn),
        referenceId: circleId,
        sourceAccountId: source,
        amount: circle.amount,
        requestId: null,
      });
      return true;
    });
  } catch (error) {
    if (isVerdict(error)) return false;
    throw error;
  }
}

/** Whether the standing order still names this account; a debit of the member's own account was agreed for good. */
async function isAgreed(
  tx: EntityManager,
  { memberId, sourceAccountId }: Pick<PaymentForMember, 'memberId' | 'sourceAccountId'>,
): Promise<boolean> {
  if (sourceAccountId === null) return true;
  const orders = await tx.execute<unknown[]>(
    'select 1 from saving_circle_standing_orders where id = ? and source_account_id = ?',
    [memberId, sourceAccountId],
  );
  return orders.length > 0;
}
