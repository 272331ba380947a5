import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { refuse } from '../../shared/errors.ts';
import { type PermissionRow, permissionColumns } from './permission.ts';

/** Returns a permission by its id; throws 404. */
export async function getPermission(em: EntityManager, permissionId: string): Promise<PermissionRow> {
  const [permission] = await em.execute<PermissionRow[]>(
    `select ${permissionColumns} from permissions row where row.id = ?`,
    [permissionId],
  );
  return permission ?? refuse('NOT_FOUND', 'The permission was not found');
}

/** Returns a page of all permissions. */
export function listPermissions(em: EntityManager, page: ListWindow): Promise<Listed & { rows: PermissionRow[] }> {
  return listPage<PermissionRow>(em, { columns: permissionColumns, table: 'permissions row' }, page);
}
