import type { EntityManager } from '@mikro-orm/postgresql';
import { lockSource } from '../ledger/lock-source.ts';
import { payFromBalance } from '../money-in/payments/pay-from-balance.ts';
import { readPayer } from '../people/identity/read-payer.ts';
import { isVerdict } from '../platform/openings/open-once.ts';
import { circlePaymentIdFor } from '../shared/ids.ts';
import { CircleMember } from './circle-member.entity.ts';
import { getPayableCircle } from './find-payable-circle.ts';
import { shareCircle } from './lock-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { savingCircleContribution } from './saving-circle-contribution.ts';

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
      if (circle.current_turn !== turn || !(await isAgreed(tx, circle, { member, sourceAccountId }))) return false;
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

/**
 * Whether the standing order still names this account and what is due: the contribution, and the guarantee beside a first
 * one. A debit of the member's own account was agreed for good.
 */
async function isAgreed(
  tx: EntityManager,
  { id: circleId, amount }: SavingCircle,
  { member, sourceAccountId }: { member: CircleMember; sourceAccountId: string | null },
): Promise<boolean> {
  if (sourceAccountId === null) return true;
  const { guarantee } = await getPayableCircle(tx, { circleId, userId: member.user_id, amount });
  const orders = await tx.execute<unknown[]>(
    `select 1 from saving_circle_standing_orders where id = ? and source_account_id = ? and amount = ?
       and ?::numeric in (0, guarantee_amount)`,
    [member.id, sourceAccountId, amount, guarantee],
  );
  return orders.length > 0;
}
