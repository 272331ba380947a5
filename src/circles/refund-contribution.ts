import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvents } from '../platform/events/record-event.ts';
import { must } from '../shared/assert.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney } from '../shared/money.ts';
import type { CircleContribution } from './circle-contribution.entity.ts';
import { payOutOfCircle } from './pay-out-of-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/**
 * Refunds contributions from the holding account to where they came from, once: of each a journal, a `reversed`
 * transaction row, the status `refunded`, an event, as `payOutOfCircle`. The guarantee paid with a completed contribution
 * stays until the circle is settled; money that came too late is refunded whole.
 */
export async function refundContributions(
  tx: EntityManager,
  circle: SavingCircle,
  contributions: readonly CircleContribution[],
): Promise<void> {
  if (contributions.length === 0) return;
  const refunds = contributions.map((contribution) => {
    const { status, amount, guarantee_amount } = contribution;
    return { contribution, amount: addMoney(amount, status === 'completed' ? '0' : guarantee_amount) };
  });
  const journalIds = await payOutOfCircle(tx, circle, {
    kind: 'saving-circle.contribution-refunded',
    status: 'reversed',
    payouts: refunds.map(({ contribution: { id, user_id, refund_account_id }, amount }) => ({
      businessKey: journalKeys.contributionRefunded(id),
      shares: [{ userId: user_id, accountId: refund_account_id, amount }],
    })),
  });
  const now = await readDatabaseClock(tx);
  const events = refunds.map(({ contribution, amount }, index) => {
    const journalId = must(journalIds[index], 'a refund has its journal');
    contribution.status = 'refunded';
    contribution.refund_journal_id = journalId;
    contribution.refunded_amount = amount;
    contribution.updated_at = now;
    const { id, turn_number } = contribution;
    return {
      event: 'RESOURCE_UPDATED',
      resourceType: 'saving_circle_contribution',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { saving_circle_id: circle.id, turn_number, status: 'refunded', journal_id: journalId },
    };
  });
  await tx.flush();
  await recordEvents(tx, events);
}
