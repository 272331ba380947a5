import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { actorOf } from '../../money-out/decisions/carry-out.ts';
import type { Decision } from '../../money-out/decisions/decision.entity.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { textArray } from '../../shared/postgres.ts';
import { Reconciliation } from './reconciliation.entity.ts';

/** Returns the difference with this id, locked until the transaction ends. */
export function lockDifference(tx: EntityManager, id: string): Promise<Reconciliation> {
  return tx.findOneOrFail(Reconciliation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Records one operator's explanation of a difference, which the caller's transaction has locked. This closes the
 * difference, and its payout's contradiction if that concerns the same transfer and provider status. Moves no money.
 */
export async function explainDifference(
  tx: EntityManager,
  decision: Decision,
  difference: Reconciliation,
): Promise<void> {
  difference.state = 'explained';
  difference.note = decision.note;
  difference.updated_at = await readDatabaseClock(tx);
  await tx.flush();
  if (difference.resource_type === 'payout' && difference.resource_id && difference.kind !== 'DOUBLE_TRANSFER') {
    await tx.execute(
      `update payouts set contradicted_at = null, explained_word = last_word
       where id = ? and last_word = any (?::text[]) and contradicted_at is not null`,
      [difference.resource_id, textArray(statusesOf(difference))],
    );
  }
  await recordEvent(tx, {
    event: 'RECONCILIATION_EXPLAINED',
    impact: 'HIGH',
    resourceType: 'reconciliation',
    resourceId: difference.id,
    actorId: actorOf(decision),
    requestId: null,
    data: { note: decision.note, decision_id: decision.id },
  });
}

/** Returns the provider statuses of a payout that fit its records in this difference. */
function statusesOf({ ours, theirs }: Reconciliation): string[] {
  if (!theirs) return ['refused'];
  const said = theirs.status === 'pending' ? 'accepted' : theirs.status;
  return theirs.amount === ours?.amount ? [said] : [said, 'another amount'];
}
