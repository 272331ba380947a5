import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { newId } from '../../shared/ids.ts';

/** Begins the erasure of a person that two people have decided, in the caller's transaction; returns its id. */
export async function beginErasure(
  tx: EntityManager,
  { userId, decisionId, actorId }: { userId: string; decisionId: string; actorId: string },
): Promise<string> {
  const id = newId();
  await tx.execute("insert into erasures (id, user_id, decision_id, status) values (?, ?, ?, 'waiting')", [
    id,
    userId,
    decisionId,
  ]);
  await recordEvent(tx, {
    event: 'ERASURE_BEGUN',
    impact: 'HIGH',
    resourceType: 'user',
    resourceId: userId,
    actorId,
    requestId: null,
    data: { decision_id: decisionId },
  });
  return id;
}
