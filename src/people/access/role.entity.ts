import { defineEntity, p } from '@mikro-orm/core';
import type { UserType } from '../../shared/user.ts';

const RoleSchema = defineEntity({
  name: 'Role',
  tableName: 'roles',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(100),
    display_name: p.string().length(120),
    organization_id: p.uuid().nullable(),
    user_type: p.text().$type<UserType>(),
    description: p.string().length(500),
    is_default: p.boolean().default(false),
    created_by: p.uuid().nullable(),
    updated_by: p.uuid().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
    deleted_at: p.datetime().nullable(),
  },
});

/** A set of permissions: a built-in default role or a custom role of one organization. */
export class Role extends RoleSchema.class {}
RoleSchema.setClass(Role);
