import type { EntityManager } from '@mikro-orm/postgresql';
import { holdBalances } from '../ledger/lock-order.ts';
import { postJournals, recordTransactionsOf } from '../ledger/post-journal.ts';
import { findOrganizationsOf } from '../people/identity/find-organizations-of.ts';
import { must } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, type Money, negateMoney } from '../shared/money.ts';
import { recordChange } from './change-circle.ts';
import { findPositions } from './find-positions.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { shareOut } from './settlement.ts';

interface Share {
  user_id: string;
  account_id: string;
  /** IDR, scale 4. */
  amount: Money;
}

interface Payouts {
  kind: string;
  /** `reversed` for refunds; `successful` by default. */
  status?: 'reversed';
  /** Each is posted once, as one journal. */
  payouts: readonly { businessKey: string; shares: readonly Share[] }[];
}

/**
 * Pays out of a circle's holding account under its lock: writes a journal for each payout and the `price` rows of its
 * shares (docs/contract.md 2), in a fixed number of statements. Returns the journals' ids.
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
        ...shares.map(({ account_id: accountId, amount }) => ({ accountId, amount })),
      ],
    })),
  );
  const journalIds = posted.map((journalId) => must(journalId, 'each payout is posted once'));
  const userIds = payouts.flatMap(({ shares }) => shares.map(({ user_id }) => user_id));
  const organizations = await findOrganizationsOf(tx, userIds);
  const rowOf = ({ user_id: userId, account_id: accountId, amount }: Share) => ({
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

/**
 * Locks the balances of a circle's final journals (its own, `credited` and every member's) before the first is posted.
 */
export async function holdForEnd(
  tx: EntityManager,
  { id, holding_account_id }: SavingCircle,
  credited: readonly string[],
): Promise<void> {
  const members = await tx.execute<{ account_id: string }[]>(
    'select account_id from saving_circle_members where saving_circle_id = ?',
    [id],
  );
  await holdBalances(tx, {
    debited: [holding_account_id],
    credited: [...credited, ...members.map(({ account_id }) => account_id)],
  });
}

/**
 * Distributes a circle's remaining balance as `shareOut` computes, once, under its lock. Unpaid claims stay debts
 * between members, which the settlement shows.
 */
export async function settleCircle(tx: EntityManager, circle: SavingCircle): Promise<void> {
  await tx.flush();
  const isCancelled = circle.status === 'cancelled';
  const positions = new Map((await findPositions(tx, circle.id)).map((position) => [position.member_id, position]));
  const shares = shareOut([...positions.values()], { isCancelled }).map(({ member_id, amount }) => ({
    amount,
    ...must(positions.get(member_id), 'every share belongs to a member'),
  }));
  if (shares.length === 0) return;
  await tx.execute(
    `insert into saving_circle_settlements (id, saving_circle_id, account_id, amount)
     select member_id, ?, account_id, amount
     from jsonb_to_recordset(?::jsonb) as share (member_id uuid, account_id uuid, amount numeric)`,
    [circle.id, JSON.stringify(shares.map(({ member_id, account_id, amount }) => ({ member_id, account_id, amount })))],
  );
  const [journal_id] = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.settled',
    payouts: [{ businessKey: journalKeys.circleSettled(circle.id), shares }],
  });
  await failpoint('settle-circle.posted');
  const settled = addMoney(...shares.map(({ amount }) => amount));
  await recordChange(tx, circle.id, { settled, journal_id, members: shares.map(({ member_id }) => member_id) });
}
