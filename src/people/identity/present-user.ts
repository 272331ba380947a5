import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { timestamp } from '../../platform/http/fields.ts';
import { locales, userLaw, userTypes } from '../../shared/user.ts';
import { showProfile } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';

/** A user as the API shows it, never with the password's hash. */
export const UserAnswer = z
  .object({
    id: z.guid(),
    email: z.string(),
    name: z.string(),
    user_type: z.enum(userTypes),
    organization_id: z.guid().nullable(),
    role_id: z.guid().nullable(),
    profile_picture: z.string().nullable(),
    status: z.enum(userLaw.statuses),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'User' });

/** The caller's own user. */
export const MeAnswer = UserAnswer.extend({
  locale: z.enum(locales),
  notices: z.object({ receipts: z.boolean(), reminders: z.boolean() }),
  email_confirmed_at: timestamp().nullable(),
  email_bounced_at: timestamp().nullable(),
});

/** Returns the caller's own user, with its private fields. Throws KeysAway. */
export async function presentMe(sealer: Sealer, user: User): Promise<z.input<typeof MeAnswer>> {
  return {
    ...(await presentUser(sealer, user)),
    locale: user.locale,
    notices: { receipts: user.takes_receipts, reminders: user.takes_reminders },
    email_confirmed_at: user.email_confirmed_at?.toISOString() ?? null,
    email_bounced_at: user.email_bounced_at?.toISOString() ?? null,
  };
}

/** Returns a user with name and address decrypted; concurrent calls read keys in one query. Throws KeysAway. */
export async function presentUser(sealer: Sealer, user: User): Promise<z.input<typeof UserAnswer>> {
  const { id, user_type, organization_id, role_id, status } = user;
  const { email, name, profile_picture } = await showProfile(sealer, user);
  return {
    id,
    email,
    name,
    user_type,
    organization_id: organization_id ?? null,
    role_id: role_id ?? null,
    profile_picture,
    status,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
  };
}
