import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../ledger/account.ts';
import { insufficientBalance } from '../ledger/post-journal.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';
import { journalKeys, newId } from '../shared/ids.ts';
import { compareMoney, formatMoney, isMoney, type Money } from '../shared/money.ts';
import { isPlainText } from '../shared/plain-text.ts';

/** The longest reference of a movement at the provider, in characters. */
const longestReference = 64;

export interface ExternalMovement {
  /** IDR, at most four decimals: above 0 money that the platform brought to the provider, below 0 that it took away. */
  amount: Money;
  /** By which the provider's statement knows it: one movement is booked once. */
  reference: string;
  actorId: string | null;
  requestId: string | null;
}

/**
 * Books what the platform itself moved at the provider (a top-up, a withdrawal, a charge of the provider's that no
 * payment explains), inside the caller's transaction, once for a reference. Its counterpart is fee revenue, the
 * platform's own money there: what is owed to others cannot be withdrawn. Returns whether it was booked now. Refuses
 * with REQUEST_INVALID an amount of 0 or no amount, no reference and one that was booked with another amount, and with
 * INSUFFICIENT_BALANCE more than the platform's own money; then the transaction must be rolled back.
 */
export async function bookExternal(
  tx: EntityManager,
  { amount, reference, actorId, requestId }: ExternalMovement,
): Promise<boolean> {
  if (!isMoney(amount) || compareMoney(amount, '0') === 0) {
    refuse('REQUEST_INVALID', 'is an amount other than 0 with at most four decimals', { field: 'amount' });
  }
  if (reference.trim() === '' || reference.length > longestReference || !isPlainText(reference)) {
    refuse('REQUEST_INVALID', `is a text of 1 to ${longestReference} characters, none a control character`, {
      field: 'reference',
    });
  }
  const [{ booked }] = await tx
    .execute<[{ booked: boolean }]>('select book_external(?, ?, ?, ?, ?) as booked', [
      newId(),
      reference,
      formatMoney(amount),
      actorId,
      requestId,
    ])
    .catch((error: unknown) => {
      if (errorCodeOf(error) !== insufficientBalance) throw error;
      return refuse('INSUFFICIENT_BALANCE', "it is more than the platform's own money", {
        field: 'amount',
        cause: error,
      });
    });
  if (!booked) await refuseOtherAmount(tx, journalKeys.platformExternal(reference), amount);
  return booked;
}

async function refuseOtherAmount(tx: EntityManager, businessKey: string, amount: Money): Promise<void> {
  const same = await tx.execute<unknown[]>(
    `select 1 from postings p join journal_keys k on k.journal_id = p.journal_id
     where k.business_key = ? and p.account_id = ? and p.amount = ?`,
    [businessKey, systemAccounts.feeRevenue, amount],
  );
  if (same.length === 0) refuse('REQUEST_INVALID', 'it was booked with another amount', { field: 'reference' });
}
