import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import { refuse } from '../shared/errors.ts';
import { isNote, notANote } from '../shared/note.ts';
import { Reconciliation } from './reconciliation.entity.ts';

/**
 * Writes down why a difference is what it is; it is no longer open, and neither is the contradiction of the payout that
 * it is about. Changes no money. Refuses with NOT_FOUND and REQUEST_INVALID.
 */
export function explainDifference(
  em: EntityManager,
  { id, note }: { id: string; note: string },
): Promise<Reconciliation> {
  if (!isNote(note)) refuse('REQUEST_INVALID', notANote);
  return em.transactional(async (tx) => {
    const difference = await tx.findOne(Reconciliation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (difference === null) refuse('NOT_FOUND', 'there is no such difference');
    difference.state = 'explained';
    difference.note = note;
    difference.updated_at = new Date();
    await tx.flush();
    if (difference.resource_type === 'payout' && difference.resource_id) {
      await tx.execute('update payouts set contradicted_at = null where id = ?', [difference.resource_id]);
    }
    await recordEvent(tx, {
      event: 'RECONCILIATION_EXPLAINED',
      resourceType: 'reconciliation',
      resourceId: id,
      actorId: null,
      requestId: null,
      data: { note },
    });
    return difference;
  });
}
