import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { lockRole } from './find-role.ts';
import { requireChangeableRole } from './role.ts';

export interface DeleteRoleInput {
  caller: Caller;
  requestId: string;
  roleId: string;
}

/** Soft-deletes a custom role and frees its name. Throws 400, with their number, while users hold it. */
export async function deleteRole(em: EntityManager, { caller, requestId, roleId }: DeleteRoleInput): Promise<void> {
  await em.transactional(async (tx) => {
    const role = await lockRole(tx, roleId, 'change');
    requireChangeableRole(caller, role);
    const [held] = await tx.execute<[{ holders: string }]>('select count(*) as holders from users where role_id = ?', [
      roleId,
    ]);
    const holders = Number(held.holders);
    if (holders > 0) {
      const who = holders === 1 ? '1 user holds it' : `${holders} users hold it`;
      refuse('REQUEST_INVALID', `The role cannot be deleted: ${who}`);
    }
    const now = await readDatabaseClock(tx);
    tx.assign(role, { deleted_at: now, updated_at: now, updated_by: caller.userId });
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_DELETED', ['role', roleId]);
  });
}
