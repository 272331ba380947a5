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
  /** What happened, e.g. `payment-order.settled`; for operators. */
  kind: string;
  /** Unique for ever: posting it twice has no further effect. */
  businessKey: string;
  postings: Posting[];
}

export interface TransactionRow {
  /** A new one unless given. */
  id?: string;
  userId: string;
  organizationId: string | null;
  amount: Money;
  /** `successful` unless the row reverses an earlier one. */
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

/** SQLSTATE that the ledger raises when a posting would take an account below zero that may not be negative. */
export const insufficientBalance = 'AM001';

/**
 * Posts one journal inside the caller's transaction, in one round trip. Postings must sum to zero and match the rows
 * that prove them, which must be written before (the database refuses anything else). Returns the journal's id, or null
 * when a journal with this business key exists already and nothing was done. Throws INSUFFICIENT_BALANCE; the caller's
 * transaction must then be rolled back.
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
      refuse('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', { field: 'amount', cause: error });
    }
    throw error;
  }
}

/** Writes the transaction rows of a journal, as `successful` or `reversed` (docs/contract.md 2). Returns their ids. */
export async function recordTransactions(
  tx: EntityManager,
  journalId: string,
  rows: TransactionRow[],
): Promise<string[]> {
  const ids = rows.map(({ id }) => id ?? newId());
  if (rows.length === 0) return ids;
  const written = rows.map((row, index) => ({
    id: ids[index],
    user_id: row.userId,
    organization_id: row.organizationId,
    amount: row.amount,
    status: row.status ?? 'successful',
    source_account_id: row.sourceAccountId,
    destination_account_id: row.destinationAccountId,
    type: row.type,
    reference_type: row.referenceType,
    reference_id: row.referenceId,
    purpose: row.purpose,
    payment_order_id: row.paymentOrderId,
    created_by: row.createdBy,
  }));
  await tx.execute('select record_transactions(?, ?::jsonb)', [journalId, JSON.stringify(written)]);
  return ids;
}
