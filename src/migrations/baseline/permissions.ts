/** Permissions by category: [name, description]. */
export const permissionCategories = {
  access_control: [
    ['create-role', 'Create a custom role'],
    ['read-role', 'List and read roles'],
    ['update-role', 'Change a custom role and its permissions'],
    ['delete-role', 'Delete a custom role that nobody holds'],
    ['assign-role', 'Assign a role to a user'],
    ['unassign-role', 'Remove the role of a user'],
    ['read-permission', 'List and read permissions'],
    ['delete-permission', 'Remove permissions from a custom role'],
  ],
  users: [
    ['invite-individual-user', 'Invite a user of type individual'],
    ['invite-organization-admin', 'Invite a user of type organization'],
    ['invite-platform-admin', 'Invite a user of type platform'],
    ['read-user', 'List and read users'],
    ['update-user', 'Suspend and reactivate users'],
  ],
  organizations: [
    ['read-organization', 'Read organizations, sizes and industries'],
    ['update-organization', 'Change an organization'],
  ],
  addresses: [
    ['create-address', 'Create an address'],
    ['read-address', 'Read addresses'],
    ['update-address', 'Change an address'],
  ],
  documents: [
    ['upload-document', 'Upload a document'],
    ['create-document', 'Register a document that is already stored'],
    ['read-document', 'List, read and view documents'],
    ['update-document', 'Change a document'],
    ['delete-document', 'Delete a document'],
    ['manage-document-category', 'Create and change categories of documents'],
  ],
  official_documents: [
    ['create-official-document', 'Create an official document'],
    ['read-official-document', 'List and read official documents'],
    ['update-official-document', 'Change an official document'],
    ['delete-official-document', 'Delete an official document'],
  ],
  accounts: [
    ['read-account', 'List and read accounts and statements'],
    ['create-account', 'Open a further pocket'],
    ['top-up-account', 'Top up an account and move money between one’s own accounts'],
    ['withdraw-account', 'Withdraw to a bank account, and manage bank accounts'],
    ['read-transaction', 'List and read ledger transactions'],
  ],
  payments: [
    ['donate-charitable-cause', 'Donate, subscribe and trace one’s own donations'],
    ['contribute-saving-goal', 'Manage saving goals and contribute to them'],
    ['create-investment', 'Pay into an investment'],
    ['pay-commodity-financing', 'Pay for commodity financing'],
    ['pay-takaful', 'Pay takaful insurance and tabaru contributions'],
  ],
  products: [
    ['read-product', 'List and read products'],
    ['manage-product', 'Create and change products'],
  ],
  charitable_causes: [
    ['create-charitable-cause', 'Create a charitable cause'],
    ['read-charitable-cause', 'List and read charitable causes'],
    ['update-charitable-cause', 'Change a charitable cause and its managers'],
    ['delete-charitable-cause', 'Deactivate a charitable cause'],
    ['approve-charitable-cause', 'Approve a charitable cause'],
    ['allocate-open-donation', 'Allocate open donations to causes'],
  ],
  saving_circles: [
    ['create-saving-circle', 'Create a saving circle and add members'],
    ['read-saving-circle', 'List and read saving circles'],
    ['update-saving-circle', 'Change a saving circle and contribute to it'],
    ['delete-saving-circle', 'Delete or cancel a saving circle'],
  ],
  partners: [['manage-partner', 'Administer partner accounts']],
  operations: [
    ['read-event', 'Read events, reconciliations, stuck payouts and money in suspense'],
    ['propose-decision', 'Propose decisions that need two people'],
    ['approve-decision', 'Approve or reject proposals of other operators'],
  ],
} as const satisfies Record<string, readonly (readonly [name: string, description: string])[]>;

const namesOf = (...categories: (keyof typeof permissionCategories)[]): string[] =>
  categories.flatMap((category) => permissionCategories[category].map(([name]) => name));

const everyPermission = namesOf(...(Object.keys(permissionCategories) as (keyof typeof permissionCategories)[]));

const ofIndividuals = [
  ...namesOf('addresses', 'documents', 'official_documents', 'accounts', 'payments', 'saving_circles'),
  'read-organization',
  'read-product',
  'create-charitable-cause',
  'read-charitable-cause',
  'update-charitable-cause',
  'delete-charitable-cause',
  // Only the platform manages categories of documents.
].filter((name) => name !== 'manage-document-category');

/** The default roles and their permissions. */
const defaultRoles = [
  {
    id: '00000000-0000-4000-8000-000000000101',
    name: 'platform_super_admin',
    display_name: 'Platform Super Admin',
    user_type: 'platform',
    description: 'Holds every permission',
    permissions: everyPermission,
  },
  {
    id: '00000000-0000-4000-8000-000000000102',
    name: 'platform_admin',
    display_name: 'Platform Admin',
    user_type: 'platform',
    description: 'Runs the platform, except approvals, allocation and partners, which only the super admin handles',
    permissions: everyPermission.filter(
      (name) =>
        !['approve-charitable-cause', 'allocate-open-donation', 'manage-partner', 'approve-decision'].includes(name),
    ),
  },
  {
    id: '00000000-0000-4000-8000-000000000103',
    name: 'organization_admin',
    display_name: 'Organization Admin',
    user_type: 'organization',
    description: 'Administers one organization',
    permissions: [
      ...ofIndividuals,
      ...namesOf('access_control'),
      'invite-individual-user',
      'invite-organization-admin',
      'update-organization',
      'read-user',
    ],
  },
  {
    id: '00000000-0000-4000-8000-000000000104',
    name: 'individual_user',
    display_name: 'Individual User',
    user_type: 'individual',
    description: 'Saves, donates and pays',
    permissions: ofIndividuals,
  },
] as const;

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const title = (name: string): string =>
  name.replaceAll(/[-_]/g, ' ').replaceAll(/\b\w/g, (letter) => letter.toUpperCase());

/** Returns the statements that insert the permissions and the default roles into a new database. */
export function seedPermissions(): string[] {
  const ofCategories = Object.entries(permissionCategories).flatMap(([category, permissions]) => [
    `insert into permission_categories (id, name, display_name)
      values (uuidv7(), ${quote(category)}, ${quote(title(category))})`,
    ...permissions.map(
      ([name, description]) => `insert into permissions (id, name, display_name, description, category_id)
        select uuidv7(), ${quote(name)}, ${quote(title(name))}, ${quote(description)}, id
        from permission_categories where name = ${quote(category)}`,
    ),
  ]);
  const ofRoles = defaultRoles.flatMap(({ id, name, display_name, user_type, description, permissions }) => [
    `insert into roles (id, name, display_name, user_type, description, is_default)
      values ('${id}', ${quote(name)}, ${quote(display_name)}, '${user_type}', ${quote(description)}, true)`,
    `insert into role_permissions (role_id, permission_id)
      select '${id}', id from permissions where name in (${permissions.map(quote).join(', ')})`,
  ]);
  return [...ofCategories, ...ofRoles];
}
