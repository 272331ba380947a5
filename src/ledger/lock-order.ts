import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../people/identity/read-payer.ts';
import type { Payer } from '../shared/caller.ts';
import { textArray } from '../shared/postgres.ts';

/** Rows that transactions lock; with the strength if the same rows have several places in the order. */
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
 * The one order in which every transaction that moves money locks rows, whatever the direction of the money, so that no
 * two of them deadlock. Code and SQL that lock refer to it; `test/ledger/lock-order.test.ts` follows every path and
 * finds violations. Several rows of a table are locked by id.
 *
 * Three rules complete it:
 *
 * - A transaction that writes several journals locks the balances of all of them before the first (`holdBalances`):
 *   each journal keeps the order, and so do all together.
 * - Rows that others refer to (users, roles, organizations, partners, accounts) are locked by every insert that names
 *   them, and by readers that rely on them, at any time, so that they stay (`key share`). A transaction that locks such
 *   a row exclusively (`for update`: a suspension) waits for none of the rows below afterwards, at most for others that
 *   do the same; a wait for it is then never part of a circle.
 * - Parts are changed only under the lock of their whole: rounds, members and contributions under their circle, the
 *   pending row of an order under the order, attempts under their payout, and differences about a payout's transfers
 *   after that payout.
 *
 * A source locked with `skip locked` (as in `pay_from_balances`) has no place in the order: no transaction waits for
 * it.
 *
 * Two pairs do not keep it; where they meet, the database aborts one of them, which is retried. Late money for a closed
 * cause may complete or reopen it and locks it exclusively at the end, while a disbursement of the same cause with the
 * same counters locks it from the start. And a request that starts a workflow locks its key before its target, a
 * payment from a balance after it: both wait where one key is used for both at once.
 */
export const lockOrder: readonly LockedRows[] = [
  { name: 'what people decide', table: 'decisions' },
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
  { name: 'balances of people that pay', table: 'account_balances', where: `shard = 0 and account_id in (${peoples})` },
  { name: 'users whose limits are judged', table: 'users', modes: ['no key update'] },
  { name: 'bank accounts', table: 'bank_accounts' },
  { name: 'causes that are judged', table: 'charitable_causes', modes: ['share', 'no key update'] },
  { name: 'circles', table: 'saving_circles' },
  { name: 'goals', table: 'saving_goals' },
  { name: 'products', table: 'products' },
  { name: 'keys of payments from balances', table: 'requests', where: 'kind is null' },
  { name: 'tallies of what limits count', table: 'payout_tallies' },
  { name: 'totals of what is given back or allocated', table: 'cause_totals', where: 'shard = 0' },
  {
    name: 'other balances that pay',
    table: 'account_balances',
    where: `shard = 0 and account_id not in (${peoples})`,
  },
  { name: 'balances that are paid', table: 'account_balances', where: 'shard > 0' },
  { name: 'counts of transactions', table: 'transaction_counts' },
  { name: 'totals of what is given', table: 'cause_totals', where: 'shard > 0' },
  { name: 'causes that money came to or left', table: 'charitable_causes', modes: ['key share', 'update'] },
];

/** Accounts of all the journals that a transaction is about to write. */
export interface HeldBalances {
  debited: readonly string[];
  credited: readonly string[];
}

/**
 * Locks the balances of several journals at once, in the one order of all transactions (`lockOrder`), until the
 * caller's transaction ends. For transactions that write a second journal after a first: each alone keeps the order,
 * both together would not. Locking more accounts than needed does no harm.
 */
export async function holdBalances(tx: EntityManager, { debited, credited }: HeldBalances): Promise<void> {
  await tx.execute('select hold_balances(?::uuid[], ?::uuid[])', [textArray(debited), textArray(credited)]);
}

/**
 * Locks a payment's source account until the caller's transaction ends, so that the target is checked after the wait,
 * and so is the payer, who may have been suspended (FORBIDDEN, as `readPayer`). Locks nothing for an account that is
 * not the payer's.
 */
export async function lockSource(
  tx: EntityManager,
  { payer, sourceAccountId }: { payer: Payer; sourceAccountId: string },
): Promise<void> {
  const { userId, userType, organizationId } = payer;
  await tx.execute('select lock_source(?, ?, ?, ?)', [userId, userType, organizationId, sourceAccountId]);
  await readPayer(tx, userId);
}
