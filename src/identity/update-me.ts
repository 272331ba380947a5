import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from './caller.ts';
import { lockUserRow } from './end-tokens.ts';
import type { User } from './user.entity.ts';

export interface UpdateMeInput {
  caller: Caller;
  requestId: string;
  /** Null clears the picture. */
  changes: { name?: string | undefined; profile_picture?: string | null | undefined };
}

/** Changes the caller's own profile. Unchanged values leave no event. */
export async function updateMe(em: EntityManager, { caller, requestId, changes }: UpdateMeInput): Promise<User> {
  return em.transactional(async (tx) => {
    const user = await lockUserRow(tx, caller.userId);
    const { name = user.name, profile_picture = user.profile_picture ?? null } = changes;
    const changed = [
      ...(name === user.name ? [] : ['name']),
      ...(profile_picture === (user.profile_picture ?? null) ? [] : ['profile_picture']),
    ];
    if (changed.length === 0) return user;
    tx.assign(user, { name, profile_picture, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'user',
      resourceId: user.id,
      actorId: user.id,
      requestId,
      data: { changed },
    });
    return user;
  });
}
