import { unlessErased, unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Place, Sealer } from '../../platform/encryption/sealer.ts';
import { newId } from '../../shared/ids.ts';

/** What names a user. It is stored sealed under the user's own key, and gone with that key. */
export interface Profile {
  email: string;
  name: string;
  profile_picture: string | null;
}

/** A profile as the columns of `users` hold it, with the digest by which the address is found. */
export interface SealedProfile {
  profile_sealed: string;
  email_digest: string;
}

/** Somebody who is to become a user: the id, and the profile sealed under a key that is written down already. */
export interface NewPerson extends SealedProfile {
  id: string;
}

interface ProfileRow {
  id: string;
  profile_sealed?: string | null | undefined;
}

const placeOf = (userId: string) => ({ table: 'users', column: 'profile_sealed', row: userId });

/** The canonical spelling of an e-mail address, by which its account is found and its failures are counted. */
export const foldEmail = (email: string): string => email.trim().toLowerCase();

/** The digest of an address in any case, by which its user is found. Throws KeysAway. */
export const emailDigest = (sealer: Sealer, email: string): Promise<string> => sealer.digest(foldEmail(email));

/** Seals a user's profile. Throws KeysAway, also where the key is missing, and KeyErased for a user who was erased. */
export const sealProfile = (sealer: Sealer, userId: string, profile: Profile): Promise<SealedProfile> =>
  sealFor(sealer, { id: userId }, profile);

async function sealFor(sealer: Sealer, person: NonNullable<Place['person']>, profile: Profile): Promise<SealedProfile> {
  return {
    profile_sealed: await sealer.seal({ ...placeOf(person.id), person }, JSON.stringify(profile)),
    email_digest: await emailDigest(sealer, profile.email),
  };
}

/**
 * Makes the key of somebody who is to become a user, and seals the profile: before the transaction that writes the user,
 * because the key is in another database. A key whose user is never written is swept. Throws KeysAway.
 */
export async function preparePerson(
  sealer: Sealer,
  { email, name }: Pick<Profile, 'email' | 'name'>,
  id: string = newId(),
): Promise<NewPerson> {
  return { id, ...(await sealFor(sealer, { id, isNew: true }, { email, name, profile_picture: null })) };
}

/** What is shown of a user whose profile was erased. */
export const erasedProfile = (userId: string): Profile => ({
  email: `${userId}@erased.invalid`,
  name: 'Erased user',
  profile_picture: null,
});

/** A user's profile, unsealed; an erased user's is anonymous. Throws KeysAway. */
export async function openProfile(sealer: Sealer, { id, profile_sealed: sealed = null }: ProfileRow): Promise<Profile> {
  if (sealed === null) return erasedProfile(id);
  const opened = await unlessErased(sealer.open(placeOf(id), sealed));
  return opened === null ? erasedProfile(id) : JSON.parse(opened);
}

/**
 * The same to be shown: of a user whose key is missing it says that nobody can read it now. Throws KeysAway where the keys
 * do not answer at all.
 */
export async function showProfile(sealer: Sealer, user: ProfileRow): Promise<Profile> {
  const { id } = user;
  const shown = await unlessMissing(openProfile(sealer, user));
  return shown ?? { email: `${id}@unreadable.invalid`, name: 'Unreadable user', profile_picture: null };
}
