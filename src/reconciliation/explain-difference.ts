import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Decision } from '../decisions/decision.entity.ts';
import { actorOf, endDecision } from '../decisions/end-decision.ts';
import { recordEvent } from '../events/record-event.ts';
import { refuse } from '../shared/errors.ts';
import { textArray } from '../shared/postgres.ts';
import { Reconciliation } from './reconciliation.entity.ts';

/**
 * Writes down why a difference is what it is, as one operator decides, in the caller's transaction; it is no longer open,
 * and neither is the contradiction of the payout that it is about, where that is the same one: the provider has said
 * nothing else since. Changes no money. Refuses with NOT_FOUND.
 */
export async function explainDifference(tx: EntityManager, decision: Decision): Promise<void> {
  const id = decision.reconciliation_id ?? '';
  const difference = await tx.findOne(Reconciliation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (difference === null) refuse('NOT_FOUND', 'there is no such difference', { field: 'reconciliation_id' });
  difference.state = 'explained';
  difference.note = decision.note;
  difference.updated_at = new Date();
  await tx.flush();
  if (difference.resource_type === 'payout' && difference.resource_id) {
    await tx.execute('update payouts set contradicted_at = null where id = ? and last_word = any (?::text[])', [
      difference.resource_id,
      textArray(wordsOf(difference)),
    ]);
  }
  const actorId = actorOf(decision);
  await recordEvent(tx, {
    event: 'RECONCILIATION_EXPLAINED',
    impact: 'HIGH',
    resourceType: 'reconciliation',
    resourceId: id,
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
