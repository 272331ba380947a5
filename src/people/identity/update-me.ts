import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import type { Locale } from '../../shared/user.ts';
import { openProfile, type Profile, sealProfile } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';
import { lockOwnRow } from './end-tokens.ts';

export interface UpdateMeInput {
  caller: Caller;
  requestId: string;
  /** Null clears the picture. */
  changes: {
    name?: string | undefined;
    profile_picture?: string | null | undefined;
    locale?: Locale | undefined;
    notices?: { receipts?: boolean | undefined; reminders?: boolean | undefined } | undefined;
  };
}

/**
 * Changes the caller's own profile, e-mail language and e-mail settings. Records no event for unchanged values. Throws
 * UNAUTHENTICATED if the token was revoked after it was checked.
 */
export async function updateMe(
  em: EntityManager,
  sealer: Sealer,
  { caller, requestId, changes }: UpdateMeInput,
): Promise<User> {
  return em.transactional(async (tx) => {
    const user = await lockOwnRow(tx, caller);
    const profile = await openProfile(sealer, user);
    const { name = profile.name, profile_picture = profile.profile_picture, locale, notices = {} } = changes;
    const named = changesTo<Profile>(profile, { name, profile_picture });
    const settings = changesTo<Settings>(settingsOf(user), {
      locale: locale ?? user.locale,
      takes_receipts: notices.receipts ?? user.takes_receipts,
      takes_reminders: notices.reminders ?? user.takes_reminders,
    });
    const changed = [...Object.keys(named), ...Object.keys(settings)];
    if (changed.length === 0) return user;
    const sealed =
      Object.keys(named).length === 0 ? {} : await sealProfile(sealer, user.id, { ...profile, name, profile_picture });
    tx.assign(user, { ...sealed, ...settings, updated_at: await readDatabaseClock(tx) });
    await tx.flush();
    await recordAction(tx, { actorId: user.id, requestId }, 'RESOURCE_UPDATED', ['user', user.id], { changed });
    return user;
  });
}

type Settings = Pick<User, 'locale' | 'takes_receipts' | 'takes_reminders'>;

const settingsOf = ({ locale, takes_receipts, takes_reminders }: User): Settings => ({
  locale,
  takes_receipts,
  takes_reminders,
});
