import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isVerdict } from '../openings/open-once.ts';
import { isAway, isLostConnection } from '../shared/away.ts';
import { budgets } from '../shared/budgets.ts';
import { isDomainError } from '../shared/errors.ts';
import { compareMoney, type Money } from '../shared/money.ts';
import { withPatience } from '../shared/patience.ts';
import { type BalancePaymentOutcome, withAmount } from './balance-payment-outcome.ts';
import { type BalancePayment, bodyOf, waitForSource } from './make-payments.ts';

/**
 * Pays, and says what became of it when the connection was lost meanwhile, whose commit may have been done. A payment
 * with this one's transaction id is this payment, so it is looked for, and made again with the same ids if it is not
 * there: the journal's business key lets it be made once, whatever the lost connection still does. Throws what paying
 * throws under an idempotency key, where what was paid meanwhile is found before a refusal is told. Without one it throws
 * the loss instead of a refusal, as the lost connection may still pay; and so it does when the database stays away for
 * two seconds, or inside a transaction of the caller's, which is gone with the connection.
 */
export async function paidDespiteLoss(
  em: EntityManager,
  payment: BalancePayment,
  pay: () => Promise<BalancePaymentOutcome>,
): Promise<BalancePaymentOutcome> {
  let loss: unknown;
  try {
    return await pay();
  } catch (error) {
    if (!isLostConnection(error) || em.isInTransaction()) throw error;
    loss = error;
  }
  // Paying again under a key finds its kept answer, and what is refused under it is so for good.
  if (payment.idempotency) return pay().catch((error) => Promise.reject(isVerdict(error) ? error : loss));
  const made = await findOnceBack(em, payment).catch(() => Promise.reject(loss));
  if (made !== null) return made;
  try {
    return await pay();
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const madeMeanwhile = await findMade(em, payment);
    if (madeMeanwhile === null) throw loss;
    return madeMeanwhile;
  }
}

/** How often a database that has gone away is asked again, in milliseconds. */
const askedAgainMs = 200;
/** How long: the rest is for what the request does before, and for its answer. */
const lookedForMs = (budgets.requests.away * 2) / 3;

/** `findMade`, as soon as a database that restarts or fails over takes connections again. Throws when it does not. */
function findOnceBack(em: EntityManager, payment: BalancePayment): Promise<BalancePaymentOutcome | null> {
  return withPatience(lookedForMs, async (signal) => {
    for (;;) {
      try {
        return await findMade(em, payment);
      } catch (error) {
        if (!isAway(error)) throw error;
        await sleep(askedAgainMs, undefined, { signal });
      }
    }
  });
}

/** This payment, if it is made; it waits for a transaction that is making it and holds the source's lock. */
async function findMade(em: EntityManager, payment: BalancePayment): Promise<BalancePaymentOutcome | null> {
  const { transactionId, sourceAccountId, payer } = payment;
  return em.transactional(async (tx) => {
    // Who pays is not judged here: they may have been suspended right after they paid.
    await waitForSource(tx, payment);
    const [row] = await tx.execute<{ batch_id: string; amount: Money; balance: Money }[]>(
      `select batch_id, amount::text, account_balance(source_account_id)::text as balance from transactions
       where id = ? and user_id = ? and source_account_id = ?`,
      [transactionId, payer.userId, sourceAccountId],
    );
    if (row === undefined) return null;
    const { batch_id: journalId, amount, balance: newBalance } = row;
    const { answer } = compareMoney(amount, payment.amount) === 0 ? payment : withAmount(payment, amount);
    const body = await bodyOf(tx, answer ?? '', newBalance);
    return { outcome: 'paid', transactionId, journalId, amount, newBalance, body };
  });
}
