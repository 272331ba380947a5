import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { timestamp } from '../../platform/http/fields.ts';
import { userLaw, userTypes } from '../../shared/user.ts';
import type { User } from '../members/user.entity.ts';
import { showProfile } from './profile.ts';

/** A user as every answer shows one: never the password's hash. */
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

/** A user with name and address unsealed; of several at once the keys are looked up together. Throws KeysAway. */
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
