/** A permission as stored; roles refer to it by name. */
export interface PermissionRow {
  id: string;
  name: string;
  display_name: string;
  description: string;
  category_id: string;
  created_at: Date | string;
  updated_at: Date | string;
}

export const permissionColumns =
  'row.id, row.name, row.display_name, row.description, row.category_id, row.created_at, row.updated_at';
