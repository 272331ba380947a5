import type { EntityManager } from '@mikro-orm/postgresql';
import { textArray } from '../../shared/postgres.ts';
import type { MailKind } from './mail.ts';

/**
 * Records mail about a resource (or a turn of it), in the transaction of the reported event: one message for each of
 * these people who receives this kind at a confirmed address. Without a resource it is about the person.
 */
export async function tell(
  tx: EntityManager,
  mail: { kind: MailKind; resourceId: string | null; turnNumber: number | null; userIds: readonly string[] },
): Promise<void> {
  const { kind, resourceId, turnNumber, userIds } = mail;
  if (userIds.length > 0) {
    await tx.execute('select tell(?, ?, ?, ?::uuid[])', [kind, resourceId, turnNumber, textArray(userIds)]);
  }
}
