import type { EntityManager } from '@mikro-orm/postgresql';
import { holdBalances } from '../ledger/hold-balances.ts';
import { postJournal, recordTransactions } from '../ledger/post-journal.ts';
import { findOrganizationsOf } from '../people/identity/find-organizations-of.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, negateMoney } from '../shared/money.ts';
import { findPositions } from './find-positions.ts';
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
  const held = addMoney(...shares.map(({ amount }) => amount));
  const journalId = must(
    await postJournal(tx, {
      kind: 'saving-circle.settled',
      businessKey: journalKeys.circleSettled(circle.id),
      postings: [
        { accountId: circle.holding_account_id, amount: negateMoney(held) },
        ...shares.map(({ account_id, amount }) => ({ accountId: account_id, amount })),
      ],
    }),
    'a circle is settled once',
  );
  await failpoint('settle-circle.posted');
  const organizations = await findOrganizationsOf(
    tx,
    shares.map(({ user_id }) => user_id),
  );
  await recordTransactions(
    tx,
    journalId,
    shares.map(({ user_id, account_id, amount }) => ({
      userId: user_id,
      organizationId: organizations.get(user_id) ?? null,
      amount,
      type: 'price',
      sourceAccountId: circle.holding_account_id,
      destinationAccountId: account_id,
      referenceType: 'saving_circle',
      referenceId: circle.id,
      purpose: 'internal_withdrawal',
      paymentOrderId: null,
      createdBy: null,
    })),
  );
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circle.id,
    actorId: null,
    requestId: null,
    data: { settled: held, journal_id: journalId, members: shares.map(({ member_id }) => member_id) },
  });
}
