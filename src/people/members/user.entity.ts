import { defineEntity, p } from '@mikro-orm/core';
import type { Locale, UserStatus, UserType } from '../../shared/user.ts';

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    /** Name, e-mail address and picture (`profile.ts`); null once erased. */
    profile_sealed: p.text().nullable().hidden(),
    email_digest: p.text().nullable().hidden(),
    user_type: p.text().$type<UserType>(),
    organization_id: p.uuid().nullable(),
    role_id: p.uuid().nullable(),
    status: p.text().$type<UserStatus>(),
    email_confirmed_at: p.datetime().nullable(),
    email_bounced_at: p.datetime().nullable(),
    locale: p.text().$type<Locale>().default('id'),
    takes_receipts: p.boolean().default(true),
    takes_reminders: p.boolean().default(true),
    password_sealed: p.text().nullable().hidden(),
    token_generation: p.integer().default(0),
    tokens_ended_at: p.datetime().nullable(),
    erased_at: p.datetime().nullable(),
    /** When the user became an approver. */
    approver_since: p.datetime().nullable(),
    first_approval_at: p.datetime().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

export class User extends UserSchema.class {}
UserSchema.setClass(User);
