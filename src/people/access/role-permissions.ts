import type { EntityManager } from '@mikro-orm/postgresql';
import { mostComplaints, refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { type PermissionRow, permissionColumns } from './permission.ts';

/** Returns the names without duplicates. Throws 400 listing the first twenty that are not permissions. */
export async function requireKnownPermissions(em: EntityManager, names: readonly string[]): Promise<string[]> {
  const asked = [...new Set(names)];
  const known = await em.execute<{ name: string }[]>('select name from permissions where name = any(?::text[])', [
    textArray(asked),
  ]);
  const found = new Set(known.map(({ name }) => name));
  const unknown = asked.filter((name) => !found.has(name)).slice(0, mostComplaints);
  if (unknown.length > 0) {
    refuse('REQUEST_INVALID', `unknown permission ${unknown.join(', ')}`, {
      field: 'permissions',
      messages: unknown.map((name) => `permissions: unknown permission ${name}`),
    });
  }
  return asked;
}

/** Returns the names of the permissions of a role. */
export async function findPermissionNames(em: EntityManager, roleId: string): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(
    `select p.name from role_permissions rp join permissions p on p.id = rp.permission_id
     where rp.role_id = ? order by p.name`,
    [roleId],
  );
  return rows.map(({ name }) => name);
}

/** Returns the full rows of a role's permissions. */
export async function findPermissionsOfRole(em: EntityManager, roleId: string): Promise<PermissionRow[]> {
  return em.execute<PermissionRow[]>(
    `select ${permissionColumns} from role_permissions rp join permissions row on row.id = rp.permission_id
     where rp.role_id = ? order by row.name`,
    [roleId],
  );
}

/** Replaces the role's permissions with these, in the caller's transaction, which has locked the role. */
export async function replacePermissions(tx: EntityManager, roleId: string, names: readonly string[]): Promise<void> {
  const wanted = textArray(names);
  await tx.execute(
    `delete from role_permissions rp using permissions p
     where p.id = rp.permission_id and rp.role_id = ? and p.name <> all(?::text[])`,
    [roleId, wanted],
  );
  await tx.execute(
    `insert into role_permissions (role_id, permission_id)
     select ?, id from permissions where name = any(?::text[]) on conflict do nothing`,
    [roleId, wanted],
  );
}

/** Removes permissions from the role; those it does not hold are ignored. */
export async function removePermissions(tx: EntityManager, roleId: string, names: readonly string[]): Promise<void> {
  await tx.execute(
    `delete from role_permissions rp using permissions p
     where p.id = rp.permission_id and rp.role_id = ? and p.name = any(?::text[])`,
    [roleId, textArray(names)],
  );
}
