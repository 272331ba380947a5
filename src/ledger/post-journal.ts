import type { EntityManager } from '@mikro-orm/postgresql';
import { trace } from '@opentelemetry/api';
import { errorCodeOf, refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Money } from '../shared/money.ts';
import type { LedgerReferenceType, TransactionPurpose, TransactionType } from './transaction.ts';

export interface Posting {
  accountId: string;
  /** IDR, scale 4, signed: what we owe to the account's owner grows with a positive amount. */
  amount: Money;
}

export interface Journal {
  /** What happened, e.g. `payment-order.settled`; for people. */
  kind: string;
  /** Unique for ever: the same deed done twice posts once. */
  businessKey: string;
  postings: Posting[];
}

export interface TransactionRow {
  userId: string;
  organizationId: string | null;
  amount: Money;
  /** `successful` unless the row takes back an earlier one. */
  status?: 'successful' | 'reversed';
  type: TransactionType;
  sourceAccountId: string;
  destinationAccountId: string | null;
  referenceType: LedgerReferenceType;
  referenceId: string;
  purpose: TransactionPurpose;
  paymentOrderId: string | null;
  createdBy: string | null;
}

/** SQLSTATE that the ledger raises when an account that may not go negative would. */
const insufficientBalance = 'AM001';

/**
 * Posts one journal inside the caller's transaction, in one round trip. Postings must sum to zero (the database
 * refuses them otherwise). Returns the journal's id, or null when a journal of this business key exists already and
 * nothing was done. Refuses with INSUFFICIENT_BALANCE; the caller's transaction must then be rolled back.
 */
export async function postJournal(tx: EntityManager, journal: Journal): Promise<string | null> {
  const id = newId();
  try {
    const rows = await tx.execute<{ posted: boolean }[]>(
      'select post_journal(?, ?, ?, ?::uuid[], ?::numeric[]) as posted',
      [
        id,
        journal.businessKey,
        journal.kind,
        `{${journal.postings.map(({ accountId }) => accountId).join(',')}}`,
        `{${journal.postings.map(({ amount }) => amount).join(',')}}`,
      ],
    );
    const posted = rows[0]?.posted === true;
    trace.getActiveSpan()?.addEvent('journal', { id, kind: journal.kind, posted });
    return posted ? id : null;
  } catch (error) {
    if (errorCodeOf(error) === insufficientBalance) {
      refuse('INSUFFICIENT_BALANCE', 'amount: the balance of the account does not cover it', { cause: error });
    }
    throw error;
  }
}

/** Writes the transaction rows that hang on a journal; they appear with it as `successful`, or `reversed` (decisions 2). */
export async function recordTransactions(
  tx: EntityManager,
  journalId: string,
  rows: TransactionRow[],
): Promise<string[]> {
  const ids = rows.map(() => newId());
  if (rows.length === 0) return ids;
  await tx.execute(
    `insert into transactions (id, user_id, organization_id, amount, status, source_account_id, destination_account_id,
       type, reference_type, reference_id, batch_id, purpose, payment_order_id, created_by) values ${rows
         .map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
         .join(', ')}`,
    rows.flatMap((row, index) => [
      ids[index],
      row.userId,
      row.organizationId,
      row.amount,
      row.status ?? 'successful',
      row.sourceAccountId,
      row.destinationAccountId,
      row.type,
      row.referenceType,
      row.referenceId,
      journalId,
      row.purpose,
      row.paymentOrderId,
      row.createdBy,
    ]),
  );
  return ids;
}
