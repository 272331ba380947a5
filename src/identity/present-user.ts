import { z } from 'zod';
import { timestamp } from '../http/fields.ts';
import type { User } from './user.entity.ts';
import { userLaw, userTypes } from './user.ts';

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

export function presentUser(user: User): z.input<typeof UserAnswer> {
  const { id, email, name, user_type, organization_id, role_id, profile_picture, status } = user;
  return {
    id,
    email,
    name,
    user_type,
    organization_id: organization_id ?? null,
    role_id: role_id ?? null,
    profile_picture: profile_picture ?? null,
    status,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
  };
}
