import { runChecks } from '../../../src/ledger/run-checks.ts';
import { newId } from '../../../src/shared/ids.ts';
import type { Stack } from '../../support/stack.ts';
import type { Ids } from './matrix-things.ts';

/** Valid bodies, so that only the owner can be the reason for a refusal; parameters are written `:`. */
const bodies: Record<string, (ids: Ids) => object> = {
  'PATCH /v1/acl/roles/:': () => ({ description: 'Changed' }),
  'DELETE /v1/acl/roles/:/permissions': () => ({ permissions: ['read-account'] }),
  'PATCH /v1/organizations/:': () => ({ phone_number: '+628123456789' }),
  'PATCH /v1/addresses/:': () => ({ city: 'Ubud' }),
  'PATCH /v1/documents/:': () => ({ document_type: 'image' }),
  'PATCH /v1/documents/categories/:': () => ({ name: 'Changed' }),
  'PATCH /v1/official-documents/:': () => ({ name_on_document: 'Budi' }),
  'PATCH /v1/users/:': () => ({ status: 'active' }),
  'POST /v1/users/:/erasure': () => ({ note: 'Asked for by letter' }),
  'POST /v1/users/:/legal-hold': () => ({ note: 'Letter of a court' }),
  'POST /v1/accounts/:/transfers': ({ account_id = '' }) => ({ destination_account_id: account_id, amount: '1000' }),
  'POST /v1/accounts/:/withdrawals': ({ bank_account_id = newId() }) => ({ bank_account_id, amount: '10000' }),
  'PATCH /v1/saving-goals/:': () => ({ name: 'Changed' }),
  'POST /v1/saving-goals/:/release': ({ account_id = newId() }) => ({ account_id }),
  'PATCH /v1/products/:': () => ({ name: 'Changed' }),
  'PATCH /v1/charitable-causes/:': () => ({ name: 'Changed' }),
  'POST /v1/charitable-causes/:/assign-manager': ({ user_id = '' }) => ({ user_id }),
  'POST /v1/charitable-causes/:/stop': () => ({ reason: 'Reported' }),
  'POST /v1/charitable-causes/:/reinstate': () => ({ reason: 'Looked into' }),
  'PATCH /v1/saving-circles/:': () => ({ name: 'Changed' }),
  'POST /v1/saving-circles/:/members/:/replacements': () => ({ account_id: newId() }),
  'PUT /v1/saving-circles/:/members/:/standing-order': ({ account_id = newId() }) => ({
    source_account_id: account_id,
  }),
  'PATCH /v1/partner-accounts/:': () => ({ name: 'Changed' }),
  'POST /v1/partner-accounts/:/keys': () => ({ permissions: ['read-gateway'] }),
  'PATCH /v1/partner-accounts/:/keys/:': () => ({ require_signature_v2: true }),
  'PUT /v1/partner-accounts/:/limits': () => ({
    max_payout_amount: '1000',
    max_daily_amount: '1000',
    max_hourly_count: 1,
  }),
  'PUT /v1/partner-accounts/:/fees': () => ({ fees: [] }),
  'POST /v1/partner-accounts/:/organizations': ({ organization_id = '' }) => ({ organization_id }),
  'POST /v1/partners/payments/:/refunds': () => ({ reason: 'Returned goods' }),
  'PATCH /v1/partners/webhook-endpoints/:': () => ({ events: ['payment.expired'] }),
  'PUT /v1/partner-accounts/:/webhook': () => ({ url: 'http://127.0.0.1:9/hook', events: ['payment.failed'] }),
};

export const bodyOf = (name: string, ids: Ids): object => bodies[name]?.(ids) ?? {};

/** Routes only for the owner, which also refuse platform users. */
const ofTheOwnerAlone = new Set([
  'POST /v1/payments/orders/:/cancel',
  'POST /v1/accounts/:/transfers',
  'POST /v1/accounts/:/withdrawals',
  'DELETE /v1/bank-accounts/:',
  'PATCH /v1/saving-goals/:',
  'POST /v1/saving-goals/:/release',
  'PUT /v1/saving-circles/:/members/:/standing-order',
  'DELETE /v1/saving-circles/:/members/:/standing-order',
  'POST /v1/saving-circles/:/replacements/:/accept',
  'DELETE /v1/donations/subscriptions/:',
  'POST /v1/donations/:/refund',
  'PATCH /v1/charitable-causes/:',
  'DELETE /v1/charitable-causes/:',
  'POST /v1/charitable-causes/:/assign-manager',
  'DELETE /v1/charitable-causes/:/managers/:',
]);

/**
 * Returns the documented status of a missing or foreign resource for an admitted caller, or null if the caller may
 * access everyone's. An organization that is not the caller's is refused whether it exists or not: 403, or 401 to
 * changes by anyone but the super admin.
 */
export function foreignStatus(
  name: string,
  kind: string,
  which: 'absent' | 'foreign',
  foreign: 403 | 404 | 'shared',
): number | null {
  if (name === 'PATCH /v1/organizations/:' && kind !== 'platform super admin') return 401;
  if (name === 'GET /v1/organizations/:' && !kind.startsWith('platform')) return 403;
  if (which === 'absent') return 404;
  if (kind.startsWith('platform') && !ofTheOwnerAlone.has(name)) return null;
  return foreign === 'shared' ? null : foreign;
}

/** Returns a response without its `request_id`, and with a placeholder for every other id. */
export function withoutIds(body: unknown): unknown {
  const { request_id: _, ...rest } = Object(body);
  const text = JSON.stringify(rest).replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>');
  return JSON.parse(text);
}

/** Fails if checks find violations, except those of resources inserted without their money and history. */
export async function expectChecksEmptyBut(planted: readonly string[], { em }: Pick<Stack, 'em'>): Promise<void> {
  const results = await runChecks(em());
  expect(results.filter(({ check, violations }) => violations > 0 && !planted.includes(check))).toEqual([]);
  const known = results.map(({ check }) => check);
  expect(planted.filter((check) => !known.includes(check))).toEqual([]);
}
