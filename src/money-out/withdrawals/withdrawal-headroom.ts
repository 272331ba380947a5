import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { addMoney, compareMoney, leftAfter, type Money } from '../../shared/money.ts';

/** What may be withdrawn at one moment; IDR, scale 4. */
export interface WithdrawalHeadroom {
  balance: Money;
  /** The part that may leave only by disbursements, because it was donated to causes of the account. */
  kept: Money;
  /** The user's withdrawals of the last 24 hours, except disbursements, and failed ones whose money did not leave. */
  used: Money;
  /** The database's clock when read; the rolling day ends here. */
  at: Date;
}

/** Returns what a user may now withdraw from an account. Exact only under the locks of user and account. */
export async function readWithdrawalHeadroom(
  em: EntityManager,
  { userId, accountId }: { userId: string; accountId: string },
): Promise<WithdrawalHeadroom> {
  const [row] = await em.execute<(Omit<WithdrawalHeadroom, 'at'> & { at: Date | string })[]>(
    `select account_balance(?)::numeric(20, 4)::text as balance, kept_for_causes(?)::numeric(20, 4)::text as kept, clock.at,
       day.amount::numeric(20, 4)::text as used
     from (select clock_timestamp() as at) clock
     cross join lateral reserved_since(?, clock.at - interval '24 hours') day`,
    [accountId, accountId, userId],
  );
  const { at, ...headroom } = must(row, 'a select without a table has a row');
  return { ...headroom, at: new Date(at) };
}

const field = 'amount';

/** Throws INSUFFICIENT_BALANCE for an amount beyond the balance. */
export function refuseBeyondBalance({ balance }: WithdrawalHeadroom, amount: Money): void {
  if (compareMoney(amount, balance) <= 0) return;
  refuse('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', { field });
}

/**
 * Throws INSUFFICIENT_BALANCE for an amount beyond the balance, and REQUEST_INVALID for an amount beyond the part not
 * reserved for causes or beyond what remains of the daily limit.
 */
export function refuseBeyondWithdrawalHeadroom(headroom: WithdrawalHeadroom, amount: Money, dailyLimit: Money): void {
  const { balance, kept, used } = headroom;
  refuseBeyondBalance(headroom, amount);
  const free = leftAfter(balance, kept);
  if (compareMoney(amount, free) > 0) {
    const why = `only IDR ${free} of the account are free: what was given to its causes leaves it by disbursements`;
    refuse('REQUEST_INVALID', why, { field });
  }
  if (compareMoney(addMoney(used, amount), dailyLimit) > 0) {
    const left = leftAfter(dailyLimit, used);
    refuse('REQUEST_INVALID', `IDR ${left} of the 24-hour limit remains`, { field });
  }
}
