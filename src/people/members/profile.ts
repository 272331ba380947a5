import { unlessErased, unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Place, Sealer } from '../../platform/encryption/sealer.ts';
import { newId } from '../../shared/ids.ts';

/** A user's personal data, stored sealed under the user's own key and lost when that key is destroyed. */
export interface Profile {
  email: string;
  name: string;
  profile_picture: string | null;
}

/** A profile as stored in the columns of `users`, with the digest used to look up the address. */
export interface SealedProfile {
  profile_sealed: string;
  email_digest: string;
}

/** A person about to become a user: the id, and the profile sealed under an already stored key. */
export interface NewPerson extends SealedProfile {
  id: string;
}

interface ProfileRow {
  id: string;
  profile_sealed?: string | null | undefined;
}

const placeOf = (userId: string) => ({ table: 'users', column: 'profile_sealed', row: userId });

/** Returns the canonical spelling of an e-mail address, used to look up its account and to count failed logins. */
export const foldEmail = (email: string): string => email.trim().toLowerCase();

/** Returns the digest of an address, ignoring case, used to look up its user. Throws KeysAway. */
export const emailDigest = (sealer: Sealer, email: string): Promise<string> => sealer.digest(foldEmail(email));

/** Seals a user's profile. Throws KeysAway, also when the key is missing, and KeyErased for an erased user. */
export const sealProfile = (sealer: Sealer, userId: string, profile: Profile): Promise<SealedProfile> =>
  sealFor(sealer, { id: userId }, profile);

async function sealFor(sealer: Sealer, person: NonNullable<Place['person']>, profile: Profile): Promise<SealedProfile> {
  return {
    profile_sealed: await sealer.seal({ ...placeOf(person.id), person }, JSON.stringify(profile)),
    email_digest: await emailDigest(sealer, profile.email),
  };
}

/**
 * Creates the key of a person about to become a user, and seals the profile. Runs before the transaction that inserts
 * the user, because the key is in another database. A sweep deletes keys without a user. Throws KeysAway.
 */
export async function preparePerson(
  sealer: Sealer,
  { email, name }: Pick<Profile, 'email' | 'name'>,
  id: string = newId(),
): Promise<NewPerson> {
  return { id, ...(await sealFor(sealer, { id, isNew: true }, { email, name, profile_picture: null })) };
}

/** Returns the profile shown for an erased user. */
export const erasedProfile = (userId: string): Profile => ({
  email: `${userId}@erased.invalid`,
  name: 'Erased user',
  profile_picture: null,
});

/** Decrypts a user's profile; returns an anonymous one for an erased user. Throws KeysAway. */
export async function openProfile(sealer: Sealer, { id, profile_sealed: sealed = null }: ProfileRow): Promise<Profile> {
  if (sealed === null) return erasedProfile(id);
  const opened = await unlessErased(sealer.open(placeOf(id), sealed));
  return opened === null ? erasedProfile(id) : JSON.parse(opened);
}

/**
 * As `openProfile`, for display: returns a placeholder for a user whose key is missing. Throws KeysAway if the keys
 * database is down.
 */
export async function showProfile(sealer: Sealer, user: ProfileRow): Promise<Profile> {
  const { id } = user;
  const shown = await unlessMissing(openProfile(sealer, user));
  return shown ?? { email: `${id}@unreadable.invalid`, name: 'Unreadable user', profile_picture: null };
}
