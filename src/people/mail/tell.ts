import type { EntityManager } from '@mikro-orm/postgresql';
import { textArray } from '../../shared/postgres.ts';
import type { MailKind } from './mail.ts';

/**
 * Writes a reminder to people about a resource (or a turn of it), once for each who takes such mail at a confirmed address;
 * in the transaction of what it reports. Without a resource it is about each of them.
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
