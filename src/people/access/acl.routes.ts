import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { prose, text, timestamp, uuid, verbatimText } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { userTypes } from '../../shared/user.ts';
import { assignRole, unassignRole } from './assign-role.ts';
import { createRole } from './create-role.ts';
import { deleteRole } from './delete-role.ts';
import { getPermission, listPermissions } from './find-permission.ts';
import { getVisibleRole, listRoles } from './find-role.ts';
import type { PermissionRow } from './permission.ts';
import type { Role } from './role.entity.ts';
import { roleTypes } from './role.ts';
import { findPermissionsOfRole } from './role-permissions.ts';
import { detachPermissions, updateRole } from './update-role.ts';

const routes = createRouteGroup({
  prefix: '/v1/acl',
  tag: 'Access control',
  description: 'Roles, their permissions and their holders. Closed to users of type individual.',
});

const admins = ['platform', 'organization'] as const;
const ownRoles = { userTypes: admins, scope: 'platform: all; organization: roles of its own organization' };
const ownAndDefaultRoles = {
  userTypes: admins,
  scope: 'platform: all; organization: roles of its own organization, and the default ones for its users',
};

const RoleAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    display_name: z.string(),
    organization_id: z.guid().nullable(),
    user_type: z.enum(userTypes),
    description: z.string(),
    created_by: z.guid().nullable(),
    updated_by: z.guid().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
    deleted_at: timestamp().nullable(),
  })
  .meta({ id: 'Role' });

const PermissionAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    display_name: z.string(),
    description: z.string(),
    category_id: z.guid(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Permission' });

function presentRole(role: Role): z.input<typeof RoleAnswer> {
  return {
    id: role.id,
    name: role.name,
    display_name: role.display_name,
    organization_id: role.organization_id ?? null,
    user_type: role.user_type,
    description: role.description,
    created_by: role.created_by ?? null,
    updated_by: role.updated_by ?? null,
    created_at: role.created_at.toISOString(),
    updated_at: role.updated_at.toISOString(),
    deleted_at: role.deleted_at?.toISOString() ?? null,
  };
}

const presentPermission = (permission: PermissionRow): z.input<typeof PermissionAnswer> => ({
  ...permission,
  created_at: new Date(permission.created_at).toISOString(),
  updated_at: new Date(permission.updated_at).toISOString(),
});

const message = z.string();
const roleId = z.object({ role_id: uuid() });
const permissionNames = z.array(verbatimText(100)).max(500);

routes.post(
  '/roles',
  {
    summary: 'Create a custom role',
    description:
      '`organization_id` is required: organization admins send their own (403 otherwise), platform admins any.',
    access: allow('create-role', ownRoles),
    body: z.strictObject({
      name: text(100),
      description: prose(500),
      organization_id: uuid().optional(),
      permissions: permissionNames,
    }),
    answers: { 201: RoleAnswer.extend({ message }) },
    refusals: [404],
  },
  async ({ body, caller, em, requestId }) => {
    const { organization_id: organizationId, ...rest } = body;
    const role = await createRole(em, { caller, requestId, organizationId, ...rest });
    return created({ message: 'Role created', ...presentRole(role) });
  },
);

routes.get(
  '/roles',
  {
    summary: 'List roles',
    access: allow('read-role', ownAndDefaultRoles),
    query: listQuery().extend({
      organization_id: uuid().optional().meta({ description: 'Honoured for platform callers only.' }),
      role_type: z.enum(roleTypes).optional(),
      user_type: z.enum(userTypes).optional(),
    }),
    answers: { 200: z.object({ message, roles: z.array(RoleAnswer), ...pageFields }) },
  },
  async ({ query, caller, em }) => {
    const { organization_id: organizationId, role_type: roleType, user_type: userType, ...page } = query;
    const { roles, ...listed } = await listRoles(em, { caller, organizationId, roleType, userType, ...page });
    return { message: 'Roles found', roles: roles.map(presentRole), ...presentPage(query, listed) };
  },
);

routes.get(
  '/roles/:role_id',
  {
    summary: 'Read a role',
    access: allow('read-role', ownAndDefaultRoles),
    params: roleId,
    answers: { 200: RoleAnswer.extend({ message }) },
  },
  async ({ params, caller, em }) => {
    const role = await getVisibleRole(em, caller, params.role_id);
    return { message: 'Role found', ...presentRole(role) };
  },
);

routes.patch(
  '/roles/:role_id',
  {
    summary: 'Change a custom role',
    description: '`permissions` replaces the whole set. Default roles cannot be changed (400).',
    access: allow('update-role', ownRoles),
    params: roleId,
    body: z.strictObject({
      name: text(100).optional(),
      description: prose(500).optional(),
      permissions: permissionNames.optional(),
    }),
    answers: { 200: z.object({ message, role: RoleAnswer }) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const role = await updateRole(em, { caller, requestId, roleId: params.role_id, ...body });
    return { message: 'Role updated', role: presentRole(role) };
  },
);

routes.delete(
  '/roles/:role_id',
  {
    summary: 'Delete an unused custom role',
    description: '400 while users hold it, with their number. Default roles cannot be deleted (400).',
    access: allow('delete-role', ownRoles),
    params: roleId,
    answers: { 200: z.object({ message }) },
  },
  async ({ params, caller, em, requestId }) => {
    await deleteRole(em, { caller, requestId, roleId: params.role_id });
    return { message: 'Role deleted' };
  },
);

routes.patch(
  '/assign-role',
  {
    summary: 'Assign a role to a user, or remove it',
    description:
      'With `unassign_role` true the role is removed, `role_id` is ignored and the removed role is returned. The ' +
      'last super admin cannot lose the role (400).',
    access: allow(['assign-role', 'unassign-role'], {
      userTypes: admins,
      scope: 'platform: all; organization: users and roles of its own organization, and the default ones for its users',
    }),
    body: z.strictObject({
      user_id: uuid().optional(),
      role_id: uuid().optional(),
      unassign_role: z.boolean().default(false),
    }),
    answers: { 200: z.object({ message, role: RoleAnswer.nullable() }) },
    refusals: [404],
  },
  async ({ body, caller, em, requestId }) => {
    const { user_id: userId, role_id: assignedRoleId } = body;
    if (body.unassign_role) {
      const role = await unassignRole(em, { caller, requestId, userId });
      return { message: 'Role unassigned', role: role && presentRole(role) };
    }
    const role = await assignRole(em, { caller, requestId, userId, roleId: assignedRoleId });
    return { message: 'Role assigned', role: presentRole(role) };
  },
);

routes.get(
  '/permissions',
  {
    summary: 'List permissions',
    access: allow('read-permission', { userTypes: admins, scope: 'all' }),
    query: listQuery(),
    answers: { 200: z.object({ message, permissions: z.array(PermissionAnswer), ...pageFields }) },
  },
  async ({ query, em }) => {
    const { rows, ...listed } = await listPermissions(em, query);
    return { message: 'Permissions found', permissions: rows.map(presentPermission), ...presentPage(query, listed) };
  },
);

routes.get(
  '/permissions/:permission_id',
  {
    summary: 'Read a permission',
    access: allow('read-permission', { userTypes: admins, scope: 'all' }),
    params: z.object({ permission_id: uuid() }),
    answers: { 200: PermissionAnswer.extend({ message }) },
  },
  async ({ params, em }) => {
    const permission = await getPermission(em, params.permission_id);
    return { message: 'Permission found', ...presentPermission(permission) };
  },
);

routes.get(
  '/roles/:role_id/permissions',
  {
    summary: 'The permissions that a role holds (not paged)',
    access: allow('read-permission', ownAndDefaultRoles),
    params: roleId,
    answers: { 200: z.object({ message, permissions: z.array(PermissionAnswer) }) },
  },
  async ({ params, caller, em }) => {
    const role = await getVisibleRole(em, caller, params.role_id);
    const permissions = await findPermissionsOfRole(em, role.id);
    return { message: 'Permissions found', permissions: permissions.map(presentPermission) };
  },
);

routes.delete(
  '/roles/:role_id/permissions',
  {
    summary: 'Remove permissions from a custom role',
    access: allow('delete-permission', ownRoles),
    params: roleId,
    body: z.strictObject({ permissions: permissionNames.min(1, 'must not be empty') }),
    answers: { 200: z.object({ message }) },
  },
  async ({ params, body, caller, em, requestId }) => {
    await detachPermissions(em, { caller, requestId, roleId: params.role_id, permissions: body.permissions });
    return { message: 'Permissions detached' };
  },
);

export const aclRoutes = routes;
