import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Decision } from '../decisions/decision.entity.ts';
import { actorOf, endDecision } from '../decisions/end-decision.ts';
import { recordEvent } from '../events/record-event.ts';
import { textArray } from '../shared/postgres.ts';
import { Reconciliation } from './reconciliation.entity.ts';

/** The difference of this id, locked until the transaction ends. */
export function lockDifference(tx: EntityManager, id: string): Promise<Reconciliation> {
  return tx.findOneOrFail(Reconciliation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Writes down why a difference, which the caller's transaction has locked, is what it is, as one operator decides; it is no
 * longer open, and neither is the contradiction of the payout that it is about, where that is the same one: the provider
 * has said nothing else since. Changes no money.
 */
export async function explainDifference(
  tx: EntityManager,
  decision: Decision,
  difference: Reconciliation,
): Promise<void> {
  difference.state = 'explained';
  difference.note = decision.note;
  difference.updated_at = new Date();
  await tx.flush();
  if (difference.resource_type === 'payout' && difference.resource_id) {
    await tx.execute(
      `update payouts set contradicted_at = null, explained_word = last_word
       where id = ? and last_word = any (?::text[]) and contradicted_at is not null`,
      [difference.resource_id, textArray(wordsOf(difference))],
    );
  }
  const actorId = actorOf(decision);
  await recordEvent(tx, {
    event: 'RECONCILIATION_EXPLAINED',
    impact: 'HIGH',
    resourceType: 'reconciliation',
    resourceId: difference.id,
    actorId,
    requestId: null,
    data: { note: decision.note, decision_id: decision.id },
  });
  await endDecision(tx, decision, { status: 'carried_out', actorId });
}

/** What the provider's word on a payout may be where its records are as in this difference. */
function wordsOf({ ours, theirs }: Reconciliation): string[] {
  if (!theirs) return ['refused'];
  const said = theirs.status === 'pending' ? 'accepted' : theirs.status;
  return theirs.amount === ours?.amount ? [said] : [said, 'another amount'];
}
