import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../find-page.ts';
import { type Caller, isPlatform } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { Transaction } from './transaction.entity.ts';
import type { LedgerReferenceType, TransactionType } from './transaction.ts';

export interface TransactionFilter extends ListWindow {
  product_id?: string | undefined;
  reference_type?: LedgerReferenceType | undefined;
  type?: TransactionType | undefined;
  user_id?: string | undefined;
}

/**
 * Whose rows a caller reads: individuals their own, users of type `organization` those of their organization, platform
 * all; a `user_id` outside that is overridden by it (decisions 2).
 */
function readableBy(caller: Caller, userId: string | undefined): FilterQuery<Transaction> {
  if (caller.userType === 'individual') return { user_id: caller.userId };
  const filter = userId === undefined ? {} : { user_id: userId };
  return isPlatform(caller) ? filter : { ...filter, organization_id: caller.organizationId };
}

/** A page of the transactions that the caller reads, newest first. */
export function findTransactions(
  em: EntityManager,
  caller: Caller,
  { product_id, reference_type, type, user_id, ...window }: TransactionFilter,
): Promise<{ items: Transaction[]; total: number }> {
  const where: FilterQuery<Transaction>[] = [readableBy(caller, user_id)];
  if (product_id !== undefined) where.push({ reference_id: product_id });
  if (reference_type !== undefined) where.push({ reference_type });
  if (type !== undefined) where.push({ type });
  return findPage(em, Transaction, { $and: where }, window);
}

/** Whether the row is the caller's, of its organization for users of type `organization`, or anybody's for platform. */
export function mayReadTransaction(caller: Caller, transaction: Transaction): boolean {
  return (
    isPlatform(caller) ||
    transaction.user_id === caller.userId ||
    (caller.userType === 'organization' && transaction.organization_id === caller.organizationId)
  );
}

/** One transaction. Refuses with NOT_FOUND, and with FORBIDDEN when it is another's (giving-circles-payments.md 7). */
export async function getTransaction(em: EntityManager, caller: Caller, id: string): Promise<Transaction> {
  const transaction = await em.findOne(Transaction, { id });
  if (transaction === null) refuse('NOT_FOUND', 'id: no such transaction');
  if (!mayReadTransaction(caller, transaction)) refuse('FORBIDDEN', 'id: the transaction is not yours');
  return transaction;
}
