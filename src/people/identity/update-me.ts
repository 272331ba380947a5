import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import type { User } from '../members/user.entity.ts';
import { lockOwnRow } from './end-tokens.ts';
import { openProfile, type Profile, sealProfile } from './profile.ts';

export interface UpdateMeInput {
  caller: Caller;
  requestId: string;
  /** Null clears the picture. */
  changes: { name?: string | undefined; profile_picture?: string | null | undefined };
}

/**
 * Changes the caller's own profile. Unchanged values leave no event. Throws UNAUTHENTICATED when the token has ended since
 * it was checked.
 */
export async function updateMe(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, changes }: UpdateMeInput,
): Promise<User> {
  return em.transactional(async (tx) => {
    const user = await lockOwnRow(tx, caller);
    const profile = await openProfile(sealer, user);
    const { name = profile.name, profile_picture = profile.profile_picture } = changes;
    const changed = Object.keys(changesTo<Profile>(profile, { name, profile_picture }));
    if (changed.length === 0) return user;
    const sealed = await sealProfile(sealer, user.id, { ...profile, name, profile_picture });
    tx.assign(user, { ...sealed, updated_at: await readDatabaseClock(tx) });
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
