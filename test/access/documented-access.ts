import type { Access } from '../../src/http/access.ts';
import type { UserType } from '../../src/identity/user.ts';

/** What the contract says of one route: who may use it. Written from the documents, not from the code. */
export interface DocumentedAccess {
  kind: Access['kind'];
  permissions?: readonly string[];
  /** Every type when absent. */
  userTypes?: readonly UserType[];
  role?: 'platform_super_admin';
}

const needs = (permission: string | string[], rest: Omit<DocumentedAccess, 'kind'> = {}): DocumentedAccess => ({
  kind: 'allow',
  permissions: typeof permission === 'string' ? [permission] : permission,
  ...rest,
});
const login: DocumentedAccess = { kind: 'signed in' };
const anyone: DocumentedAccess = { kind: 'open' };
const partner = (permission: string): DocumentedAccess => ({ kind: 'partner', permissions: [permission] });
const admins: UserType[] = ['platform', 'organization'];
const platform: UserType[] = ['platform'];
const ofAdmins = { userTypes: admins };
const ofPlatform = { userTypes: platform };
const ofSuperAdmin = { userTypes: platform, role: 'platform_super_admin' } as const;

/** Route -> access; parameters are written `:`. A new room adds its rows. */
export const documentedAccess: Record<string, DocumentedAccess> = {
  // administration.md section 4
  'POST /v1/acl/roles': needs('create-role', ofAdmins),
  'GET /v1/acl/roles': needs('read-role', ofAdmins),
  'GET /v1/acl/roles/:': needs('read-role', ofAdmins),
  'PATCH /v1/acl/roles/:': needs('update-role', ofAdmins),
  'DELETE /v1/acl/roles/:': needs('delete-role', ofAdmins),
  'PATCH /v1/acl/assign-role': needs(['assign-role', 'unassign-role'], ofAdmins),
  'GET /v1/acl/permissions': needs('read-permission', ofAdmins),
  'GET /v1/acl/permissions/:': needs('read-permission', ofAdmins),
  'GET /v1/acl/roles/:/permissions': needs('read-permission', ofAdmins),
  'DELETE /v1/acl/roles/:/permissions': needs('delete-permission', ofAdmins),
  'GET /v1/organizations': needs('read-organization', ofPlatform),
  'GET /v1/organizations/sizes': needs('read-organization', ofAdmins),
  'GET /v1/organizations/industries': needs('read-organization', ofAdmins),
  'GET /v1/organizations/:': needs('read-organization'),
  'PATCH /v1/organizations/:': needs('update-organization'),
  'POST /v1/addresses': needs('create-address'),
  'GET /v1/addresses/:': needs('read-address'),
  'GET /v1/addresses': needs('read-address', ofPlatform),
  'PATCH /v1/addresses/:': needs('update-address'),
  'POST /v1/documents/upload': needs('upload-document'),
  'POST /v1/documents': needs('create-document'),
  'GET /v1/documents': needs('read-document'),
  'GET /v1/documents/type/:': needs('read-document'),
  'GET /v1/documents/:': needs('read-document'),
  'GET /v1/documents/:/view-url': needs('read-document'),
  'PATCH /v1/documents/:': needs('update-document'),
  'DELETE /v1/documents/:': needs('delete-document'),
  // decisions 11
  'GET /v1/documents/categories': login,
  'POST /v1/documents/categories': needs('manage-document-category', ofPlatform),
  'PATCH /v1/documents/categories/:': needs('manage-document-category', ofPlatform),
  'POST /v1/official-documents': needs('create-official-document'),
  'GET /v1/official-documents': needs('read-official-document'),
  'GET /v1/official-documents/:': needs('read-official-document'),
  'PATCH /v1/official-documents/:': needs('update-official-document'),
  'DELETE /v1/official-documents/:': needs('delete-official-document'),
  // decisions 1
  'POST /v1/auth/signup': anyone,
  'POST /v1/organizations/signup': anyone,
  'POST /v1/auth/login': anyone,
  'POST /v1/auth/logout': login,
  'GET /v1/auth/me': login,
  'PATCH /v1/auth/me': login,
  'PUT /v1/auth/password': login,
  'POST /v1/auth/logout-all': login,
  'POST /v1/auth/totp': login,
  'POST /v1/auth/totp/confirm': login,
  'DELETE /v1/auth/totp': login,
  'DELETE /v1/users/invitations/:': needs([
    'invite-platform-admin',
    'invite-organization-admin',
    'invite-individual-user',
  ]),
  'GET /.well-known/jwks.json': anyone,
  'POST /v1/users/invitations': login,
  'POST /v1/auth/invitations/accept': anyone,
  'GET /v1/users': needs('read-user'),
  'GET /v1/users/:': needs('read-user'),
  'PATCH /v1/users/:': needs('update-user', ofPlatform),
  // decisions 2
  'GET /v1/accounts': needs('read-account'),
  'GET /v1/accounts/:': needs('read-account'),
  // A pocket belongs to a person or an organization; the platform's users have none.
  'POST /v1/accounts': needs('create-account', { userTypes: ['organization', 'individual'] }),
  'GET /v1/accounts/:/statement': needs('read-account'),
  'POST /v1/accounts/:/transfers': needs('top-up-account'),
  // giving-circles-payments.md section 4, decisions 3
  'GET /v1/transactions': needs('read-transaction'),
  'GET /v1/transactions/:': needs('read-transaction'),
  'POST /v1/payments/gateway': login,
  'POST /v1/payments/balance': login,
  'GET /v1/payments/channels': login,
  'GET /v1/payments/orders': login,
  'GET /v1/payments/orders/:': login,
  'POST /v1/payments/orders/:/cancel': login,
  'POST /v1/saving-goals': needs('contribute-saving-goal'),
  'GET /v1/saving-goals': needs('contribute-saving-goal'),
  'GET /v1/saving-goals/:': needs('contribute-saving-goal'),
  'PATCH /v1/saving-goals/:': needs('contribute-saving-goal'),
  'POST /v1/products': needs('manage-product', ofPlatform),
  'PATCH /v1/products/:': needs('manage-product', ofPlatform),
  'GET /v1/products': needs('read-product'),
  'GET /v1/products/:': needs('read-product'),
  'POST /v1/gateway/callbacks/xendit': anyone,
  'GET /v1/charitable-causes': needs('read-charitable-cause'),
  'GET /v1/charitable-causes/:': needs('read-charitable-cause'),
  'POST /v1/charitable-causes': needs('create-charitable-cause'),
  'PATCH /v1/charitable-causes/:': needs('update-charitable-cause'),
  'DELETE /v1/charitable-causes/:': needs('delete-charitable-cause'),
  'POST /v1/charitable-causes/:/assign-manager': needs('update-charitable-cause'),
  'GET /v1/summary/charitable-causes': needs('read-charitable-cause', ofAdmins),
  'PATCH /v1/charitable-causes/:/approve': needs('approve-charitable-cause', ofSuperAdmin),
  'POST /v1/charitable-causes/:/stop': needs('approve-charitable-cause', ofSuperAdmin),
  'POST /v1/charitable-causes/:/reinstate': needs('approve-charitable-cause', ofSuperAdmin),
  'GET /v1/donations/open': needs('allocate-open-donation', ofSuperAdmin),
  'POST /v1/donations/allocate': needs('allocate-open-donation', ofSuperAdmin),
  'POST /v1/donations/allocate/preview': needs('allocate-open-donation', ofSuperAdmin),
  'GET /v1/donations/open-pool': login,
  'GET /v1/donations': needs('donate-charitable-cause'),
  'GET /v1/donations/:/trace': needs('donate-charitable-cause'),
  'POST /v1/donations/subscriptions': needs('donate-charitable-cause'),
  'GET /v1/donations/subscriptions': needs('donate-charitable-cause'),
  // One subscription is read like the list.
  'GET /v1/donations/subscriptions/:': needs('donate-charitable-cause'),
  'DELETE /v1/donations/subscriptions/:': needs('donate-charitable-cause'),
  'POST /v1/saving-circles': needs('create-saving-circle'),
  'POST /v1/saving-circles/members': needs('create-saving-circle'),
  'DELETE /v1/saving-circles/:/members/:': needs('create-saving-circle'),
  'POST /v1/saving-circles/contribute': needs('update-saving-circle'),
  'GET /v1/saving-circles': needs('read-saving-circle'),
  'GET /v1/saving-circles/:': needs('read-saving-circle'),
  'PATCH /v1/saving-circles/:': needs('update-saving-circle'),
  'DELETE /v1/saving-circles/:': needs('delete-saving-circle'),
  'POST /v1/saving-circles/:/cancel': needs('delete-saving-circle', ofPlatform),
  'GET /v1/saving-circles/:/draw': needs('read-saving-circle'),
  'GET /v1/saving-circles/:/contributions': needs('read-saving-circle'),
  'GET /v1/summary/saving-circles': needs('read-saving-circle', ofAdmins),
  // decisions 7
  'GET /v1/documents/:/public': anyone,
  'GET /v1/events': needs('read-event', ofPlatform),
  // decisions 11
  'POST /v1/decisions': needs('propose-decision', ofPlatform),
  'GET /v1/decisions': needs(['propose-decision', 'approve-decision'], ofPlatform),
  'GET /v1/decisions/:': needs(['propose-decision', 'approve-decision'], ofPlatform),
  'POST /v1/decisions/:/approve': needs('approve-decision', ofPlatform),
  'POST /v1/decisions/:/reject': needs('approve-decision', ofPlatform),
  'GET /v1/receipts': needs('read-event', ofPlatform),
  'GET /v1/operations/overview': needs('read-event', ofPlatform),
  // decisions 8
  'GET /v1/reconciliations': needs('read-event', ofPlatform),
  'GET /v1/payouts/stuck': needs('read-event', ofPlatform),
  'POST /v1/partner-accounts': needs('manage-partner', ofPlatform),
  'GET /v1/partner-accounts': needs('manage-partner', ofPlatform),
  'GET /v1/partner-accounts/:': needs('manage-partner', ofPlatform),
  'PATCH /v1/partner-accounts/:': needs('manage-partner', ofPlatform),
  'POST /v1/partner-accounts/:/keys': needs('manage-partner', ofPlatform),
  'DELETE /v1/partner-accounts/:/keys/:': needs('manage-partner', ofPlatform),
  'POST /v1/partner-accounts/:/keys/:/rotate': needs('manage-partner', ofPlatform),
  'PUT /v1/partner-accounts/:/limits': needs('manage-partner', ofPlatform),
  'PUT /v1/partner-accounts/:/fees': needs('manage-partner', ofPlatform),
  'POST /v1/partner-accounts/:/organizations': needs('manage-partner', ofPlatform),
  'DELETE /v1/partner-accounts/:/organizations/:': needs('manage-partner', ofPlatform),
  'PUT /v1/partner-accounts/:/webhook': needs('manage-partner', ofPlatform),
  'POST /v1/partner-accounts/:/webhook/rotate-secret': needs('manage-partner', ofPlatform),
  'GET /v1/partner-accounts/:/webhook-deliveries': needs('manage-partner', ofPlatform),
  'POST /v1/partner-accounts/:/webhook-deliveries/:/redeliver': needs('manage-partner', ofPlatform),
  // partners.md section 4, decisions 8
  'POST /v1/partners/payments': partner('collect-payment'),
  'GET /v1/partners/payments': partner('read-gateway'),
  'GET /v1/partners/payments/:': partner('read-gateway'),
  'POST /v1/partners/payments/:/cancel': partner('collect-payment'),
  'GET /v1/partners/payments/:/timeline': partner('read-gateway'),
  'POST /v1/partners/quotes': partner('collect-payment'),
  'POST /v1/partners/payouts': partner('request-payout'),
  'GET /v1/partners/payouts': partner('read-gateway'),
  'GET /v1/partners/payouts/:': partner('read-gateway'),
  'GET /v1/partners/payouts/:/timeline': partner('read-gateway'),
  'GET /v1/partners/balance': partner('read-gateway'),
  'GET /v1/partners/channels': partner('read-gateway'),
  'GET /v1/partners/limits': partner('read-gateway'),
};

/** Documented routes whose room does not stand yet; everything else must be there. */
export const routesToCome: readonly string[] = [];
