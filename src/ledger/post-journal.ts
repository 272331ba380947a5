import type { EntityManager } from '@mikro-orm/postgresql';
import { trace } from '@opentelemetry/api';
import { errorCodeOf, refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Money } from '../shared/money.ts';
import type { LedgerReferenceType, TransactionPurpose, TransactionType } from './transaction.ts';

export interface Posting {
  accountId: string;
  /** IDR, scale 4, signed: a positive amount increases what we owe to the account's owner. */
  amount: Money;
}

export interface Journal {
  /** The event that the journal records, e.g. `payment-order.settled`; for operators. */
  kind: string;
  /** Permanently unique: posting it again has no effect. */
  businessKey: string;
  postings: Posting[];
}

export interface TransactionRow {
  /** A new id by default. */
  id?: string;
  userId: string;
  organizationId: string | null;
  amount: Money;
  /** `successful` by default; `reversed` if the row reverses an earlier one. */
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

/** SQLSTATE of a posting that would make a balance negative where the account does not allow it. */
export const insufficientBalance = 'AM001';

/**
 * Posts one journal in the caller's transaction, in one round trip. Postings must sum to zero and match the rows that
 * prove them, which must be written first (the database refuses anything else). Returns the journal's id, or null,
 * without effect, if a journal with this business key exists. Throws INSUFFICIENT_BALANCE; the caller's transaction
 * must then be rolled back.
 */
export async function postJournal(tx: EntityManager, journal: Journal): Promise<string | null> {
  const [id] = await postJournals(tx, [journal]);
  return id ?? null;
}

/** As `postJournal`, for any number of journals, in their order and in one round trip. */
export async function postJournals(tx: EntityManager, journals: readonly Journal[]): Promise<(string | null)[]> {
  const posted = journals.map(({ businessKey, kind, postings }) => ({
    id: newId(),
    business_key: businessKey,
    kind,
    accounts: postings.map(({ accountId }) => accountId),
    amounts: postings.map(({ amount }) => amount),
  }));
  try {
    const rows = await tx.execute<{ posted: boolean }[]>(
      `select post_journal(id, business_key, kind, accounts, amounts) as posted from jsonb_to_recordset(?::jsonb)
         as journal (id uuid, business_key text, kind text, accounts uuid[], amounts numeric[])`,
      [JSON.stringify(posted)],
    );
    return posted.map(({ id, kind }, index) => {
      const isPosted = rows[index]?.posted === true;
      trace.getActiveSpan()?.addEvent('journal', { id, kind, posted: isPosted });
      return isPosted ? id : null;
    });
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
  const identified = rows.map((row) => ({ ...row, id: row.id ?? newId() }));
  if (rows.length > 0) await recordTransactionsOf(tx, [{ journalId, rows: identified }]);
  return identified.map(({ id }) => id);
}

/** As `recordTransactions`, for the rows of any number of journals, in one round trip. */
export async function recordTransactionsOf(
  tx: EntityManager,
  journals: readonly { journalId: string; rows: TransactionRow[] }[],
): Promise<void> {
  const written = journals.map(({ journalId, rows }) => ({ journal_id: journalId, rows: rows.map(columnsOf) }));
  await tx.execute(
    `select record_transactions(journal_id, rows)
     from jsonb_to_recordset(?::jsonb) as written (journal_id uuid, rows jsonb)`,
    [JSON.stringify(written)],
  );
}

function columnsOf(row: TransactionRow) {
  return {
    id: row.id ?? newId(),
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
  };
}
