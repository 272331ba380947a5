import type { EntityManager } from '@mikro-orm/postgresql';
import { holdBalances } from '../ledger/lock-order.ts';
import { must } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney } from '../shared/money.ts';
import { recordChange } from './change-circle.ts';
import { findPositions } from './find-positions.ts';
import { payOutOfCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { shareOut } from './settlement.ts';

/**
 * Locks the balances of the journals that end a circle, before the first of them: those that are credited besides the
 * members' own, and those that what is left may go to.
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
 * Shares out what a circle still holds at its end among its members, as `shareOut` has it, once: rows, journal,
 * transaction rows and an event in the caller's transaction, under the circle's lock. What cannot be paid stays a debt
 * between members, which the settlement shows.
 */
export async function settleCircle(tx: EntityManager, circle: SavingCircle): Promise<void> {
  await tx.flush();
  const isCancelled = circle.status === 'cancelled';
  const positions = new Map((await findPositions(tx, circle.id)).map((position) => [position.member_id, position]));
  const shares = shareOut([...positions.values()], { isCancelled }).map(({ member_id, amount }) => ({
    amount,
    ...must(positions.get(member_id), 'a share is a member’s'),
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
    payouts: [
      {
        businessKey: journalKeys.circleSettled(circle.id),
        shares: shares.map(({ user_id, account_id, amount }) => ({ userId: user_id, accountId: account_id, amount })),
      },
    ],
  });
  await failpoint('settle-circle.posted');
  const settled = addMoney(...shares.map(({ amount }) => amount));
  await recordChange(tx, circle.id, { settled, journal_id, members: shares.map(({ member_id }) => member_id) });
}
