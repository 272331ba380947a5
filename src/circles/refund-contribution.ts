import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import { postJournal, recordTransactions } from '../ledger/post-journal.ts';
import { must } from '../shared/assert.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, negateMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/**
 * Refunds a contribution from the holding account to where it came from, once: journal, a `reversed` transaction row,
 * the status `refunded`, an event. In the caller's transaction, under the circle's lock. The guarantee paid with a
 * completed contribution stays until the circle is settled; money that came too late is refunded whole.
 */
export async function refundContribution(
  tx: EntityManager,
  circle: SavingCircle,
  contribution: CircleContribution,
): Promise<void> {
  const { id, user_id, refund_account_id } = contribution;
  const isWhole = contribution.status !== 'completed';
  const amount = addMoney(contribution.amount, isWhole ? contribution.guarantee_amount : '0');
  const journalId = must(
    await postJournal(tx, {
      kind: 'saving-circle.contribution-refunded',
      businessKey: journalKeys.contributionRefunded(id),
      postings: [
        { accountId: circle.holding_account_id, amount: negateMoney(amount) },
        { accountId: refund_account_id, amount },
      ],
    }),
    'a contribution is refunded once',
  );
  const users = await tx.execute<{ organization_id: string | null }[]>(
    'select organization_id from users where id = ?',
    [user_id],
  );
  await recordTransactions(tx, journalId, [
    {
      userId: user_id,
      organizationId: users[0]?.organization_id ?? null,
      amount,
      status: 'reversed',
      type: 'price',
      sourceAccountId: circle.holding_account_id,
      destinationAccountId: refund_account_id,
      referenceType: 'saving_circle',
      referenceId: circle.id,
      purpose: 'internal_withdrawal',
      paymentOrderId: null,
      createdBy: null,
    },
  ]);
  contribution.status = 'refunded';
  contribution.refund_journal_id = journalId;
  contribution.refunded_amount = amount;
  contribution.updated_at = await readDatabaseClock(tx);
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle_contribution',
    resourceId: id,
    actorId: null,
    requestId: null,
    data: {
      saving_circle_id: circle.id,
      turn_number: contribution.turn_number,
      status: 'refunded',
      journal_id: journalId,
    },
  });
}
