import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../../people/mail/tell.ts';
import type { Cause } from './cause.entity.ts';

/**
 * Queues e-mail to a cause's creator and managers, as `tell` does, under the cause's lock. `turnNumber` distinguishes
 * repeated stops.
 */
export async function tellOrganizers(
  tx: EntityManager,
  cause: Cause,
  mail: { kind: 'cause_approved'; turnNumber: null } | { kind: 'cause_stopped'; turnNumber: number },
): Promise<void> {
  const managers = await tx.execute<{ user_id: string }[]>('select user_id from cause_managers where cause_id = ?', [
    cause.id,
  ]);
  const userIds = [...new Set([cause.created_by, ...managers.map(({ user_id }) => user_id)])];
  await tell(tx, { ...mail, resourceId: cause.id, userIds });
}
