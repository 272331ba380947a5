import type { EntityManager } from '@mikro-orm/postgresql';
import { postJournals, recordTransactionsOf } from '../ledger/post-journal.ts';
import { findOrganizationsOf } from '../people/identity/find-organizations-of.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvents } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, negateMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/**
 * Refunds contributions from the holding account to where they came from, once: of each a journal, a `reversed`
 * transaction row, the status `refunded`, an event. In the caller's transaction, under the circle's lock, in the same
 * number of statements however many there are. The guarantee paid with a completed contribution stays until the circle
 * is settled; money that came too late is refunded whole.
 */
export async function refundContributions(
  tx: EntityManager,
  circle: SavingCircle,
  contributions: readonly CircleContribution[],
): Promise<void> {
  if (contributions.length === 0) return;
  const amounts = contributions.map(({ status, amount, guarantee_amount }) =>
    addMoney(amount, status === 'completed' ? '0' : guarantee_amount),
  );
  const journals = await postJournals(
    tx,
    contributions.map(({ id, refund_account_id }, index) => ({
      kind: 'saving-circle.contribution-refunded',
      businessKey: journalKeys.contributionRefunded(id),
      postings: [
        { accountId: circle.holding_account_id, amount: negateMoney(amounts[index] ?? '0') },
        { accountId: refund_account_id, amount: amounts[index] ?? '0' },
      ],
    })),
  );
  const organizations = await findOrganizationsOf(
    tx,
    contributions.map(({ user_id }) => user_id),
  );
  const now = await readDatabaseClock(tx);
  const refunded = contributions.map((contribution, index) => ({
    contribution,
    amount: amounts[index] ?? '0',
    journalId: must(journals[index], 'a contribution is refunded once'),
  }));
  await recordTransactionsOf(
    tx,
    refunded.map(({ contribution: { user_id, refund_account_id }, amount, journalId }) => ({
      journalId,
      rows: [
        {
          userId: user_id,
          organizationId: organizations.get(user_id) ?? null,
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
      ],
    })),
  );
  for (const { contribution, amount, journalId } of refunded) {
    contribution.status = 'refunded';
    contribution.refund_journal_id = journalId;
    contribution.refunded_amount = amount;
    contribution.updated_at = now;
  }
  await tx.flush();
  await recordEvents(
    tx,
    refunded.map(({ contribution: { id, turn_number }, journalId }) => ({
      event: 'RESOURCE_UPDATED',
      resourceType: 'saving_circle_contribution',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { saving_circle_id: circle.id, turn_number, status: 'refunded', journal_id: journalId },
    })),
  );
}
