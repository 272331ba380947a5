import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../people/identity/read-payer.ts';
import type { Payer } from '../shared/caller.ts';
import { textArray } from '../shared/postgres.ts';

/** Rows that transactions lock; with lock modes if the same rows have several places in the order. */
export interface LockedRows {
  name: string;
  table: string;
  /** Which rows of the table, if not all. */
  where?: string;
  modes?: readonly LockMode[];
}

export type LockMode = 'key share' | 'share' | 'no key update' | 'update';

const peoples = "select a.id from accounts a where a.kind in ('user', 'organization')";

/**
 * The order in which every transaction that moves money locks rows, whatever the direction of the money, so that no two
 * of them deadlock. Code and SQL that lock refer to it; `test/ledger/lock-order.test.ts` checks every path. Several
 * rows of a table are locked by id.
 *
 * Three further rules:
 *
 * - A transaction that writes several journals locks the balances of all of them before the first (`holdBalances`);
 *   otherwise each journal would keep the order, but not the transaction.
 * - Every insert that names a referenced row (user, role, organization, partner, account), and every reader that relies
 *   on it, share-locks it (`key share`) at any time. A transaction that locks such a row exclusively (`for update`: a
 *   suspension) must not wait afterwards for any row below, so that waiting for it is never part of a cycle; it may
 *   wait for others that do the same.
 * - Parts change only under the lock of their whole: rounds, members and contributions under their circle, the pending
 *   row of an order under the order, attempts under their payout, and differences about a payout's transfers after that
 *   payout.
 *
 * A source locked with `skip locked` (as in `pay_from_balances`) has no place in the order, because the transaction
 * does not wait for it.
 *
 * Two pairs of transactions violate the order; if they deadlock, the database aborts one, which is retried. Late money
 * for a closed cause may complete or reopen it and locks it exclusively at the end, while a disbursement of the same
 * cause with the same counters locks it at the start. A request that starts a workflow locks its key before its target,
 * a payment from a balance after it; the two deadlock only if they use the same key.
 */
export const lockOrder: readonly LockedRows[] = [
  { name: 'decisions', table: 'decisions' },
  { name: 'requests', table: 'requests', where: 'kind is not null' },
  { name: 'partners', table: 'partners', modes: ['share', 'no key update', 'update'] },
  { name: 'orders', table: 'payment_orders' },
  { name: 'reusable instruments', table: 'partner_instruments', modes: ['share', 'no key update', 'update'] },
  { name: 'payments of partners', table: 'partner_payments' },
  { name: 'batches of payouts', table: 'payout_batches' },
  { name: 'payouts', table: 'payouts' },
  { name: 'receipts', table: 'receipts' },
  { name: 'donations', table: 'donations' },
  { name: 'subscriptions', table: 'donation_subscriptions' },
  {
    name: 'debited balances of people and organizations',
    table: 'account_balances',
    where: `shard = 0 and account_id in (${peoples})`,
  },
  { name: 'users whose limits are checked', table: 'users', modes: ['no key update'] },
  { name: 'bank accounts', table: 'bank_accounts' },
  { name: 'causes that are checked', table: 'charitable_causes', modes: ['share', 'no key update'] },
  { name: 'circles', table: 'saving_circles' },
  { name: 'goals', table: 'saving_goals' },
  { name: 'products', table: 'products' },
  { name: 'keys of payments from balances', table: 'requests', where: 'kind is null' },
  { name: 'tallies for limits', table: 'payout_tallies' },
  { name: 'totals of causes, for refunds and allocations', table: 'cause_totals', where: 'shard = 0' },
  {
    name: 'other debited balances',
    table: 'account_balances',
    where: `shard = 0 and account_id not in (${peoples})`,
  },
  { name: 'credited balances', table: 'account_balances', where: 'shard > 0' },
  { name: 'counts of transactions', table: 'transaction_counts' },
  { name: 'totals of causes, for donations', table: 'cause_totals', where: 'shard > 0' },
  { name: 'causes whose money has changed', table: 'charitable_causes', modes: ['key share', 'update'] },
];

/** The accounts of all journals that a transaction is about to write. */
export interface HeldBalances {
  debited: readonly string[];
  credited: readonly string[];
}

/**
 * Locks the balances of several journals at once, in the order of `lockOrder`, until the caller's transaction ends. For
 * transactions that write several journals: each journal alone keeps the order, several in turn would not. Locking more
 * accounts than needed does no harm.
 */
export async function holdBalances(tx: EntityManager, { debited, credited }: HeldBalances): Promise<void> {
  await tx.execute('select hold_balances(?::uuid[], ?::uuid[])', [textArray(debited), textArray(credited)]);
}

/**
 * Locks a payment's source account until the caller's transaction ends, so that the target and the payer, who may have
 * been suspended (FORBIDDEN, as `readPayer`), are checked after the wait. Locks nothing for an account that is not the
 * payer's.
 */
export async function lockSource(
  tx: EntityManager,
  { payer, sourceAccountId }: { payer: Payer; sourceAccountId: string },
): Promise<void> {
  const { userId, userType, organizationId } = payer;
  await tx.execute('select lock_source(?, ?, ?, ?)', [userId, userType, organizationId, sourceAccountId]);
  await readPayer(tx, userId);
}
