import type { EntityManager } from '@mikro-orm/postgresql';
import { postJournals, recordTransactionsOf } from '../ledger/post-journal.ts';
import { findOrganizationsOf } from '../people/identity/find-organizations-of.ts';
import { must } from '../shared/assert.ts';
import { addMoney, type Money, negateMoney } from '../shared/money.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** What one of a circle's people gets. */
interface Share {
  userId: string;
  accountId: string;
  /** IDR, scale 4. */
  amount: Money;
}

interface Payouts {
  kind: string;
  /** `successful` unless they give back what was paid in. */
  status?: 'reversed';
  /** Each a journal, which is posted once. */
  payouts: readonly { businessKey: string; shares: readonly Share[] }[];
}

/**
 * Pays out of a circle's holding account, in the caller's transaction, under the circle's lock: of each payout a journal
 * and the `price` rows of its shares (docs/contract.md 2), in the same number of statements however many there are.
 * Returns the journals' ids.
 */
export async function payOutOfCircle(
  tx: EntityManager,
  { id, holding_account_id: holding }: SavingCircle,
  { kind, status, payouts }: Payouts,
): Promise<string[]> {
  const posted = await postJournals(
    tx,
    payouts.map(({ businessKey, shares }) => ({
      kind,
      businessKey,
      postings: [
        { accountId: holding, amount: negateMoney(addMoney(...shares.map(({ amount }) => amount))) },
        ...shares.map(({ accountId, amount }) => ({ accountId, amount })),
      ],
    })),
  );
  const journalIds = posted.map((journalId) => must(journalId, 'a circle pays each once'));
  const userIds = payouts.flatMap(({ shares }) => shares.map(({ userId }) => userId));
  const organizations = await findOrganizationsOf(tx, userIds);
  const rowOf = ({ userId, accountId, amount }: Share) => ({
    userId,
    organizationId: organizations.get(userId) ?? null,
    amount,
    ...(status && { status }),
    type: 'price' as const,
    sourceAccountId: holding,
    destinationAccountId: accountId,
    referenceType: 'saving_circle' as const,
    referenceId: id,
    purpose: 'internal_withdrawal' as const,
    paymentOrderId: null,
    createdBy: null,
  });
  await recordTransactionsOf(
    tx,
    payouts.map(({ shares }, index) => ({ journalId: journalIds[index] ?? '', rows: shares.map(rowOf) })),
  );
  return journalIds;
}
