import type { EntityManager } from '@mikro-orm/postgresql';
import { emailDigest, foldEmail } from '../../people/members/profile.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordReadOfOthers } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { textArray } from '../../shared/postgres.ts';
import { canonicalId, isUuid } from '../../shared/uuid.ts';

/** The types that a search finds. */
export const foundTypes = [
  'payout',
  'payout_batch',
  'partner_payment',
  'partner_instrument',
  'payment_order',
  'receipt',
  'reconciliation',
  'decision',
  'partner',
  'user',
  'organization',
  'account',
  'transaction',
  'charitable_cause',
  'donation',
  'donation_subscription',
  'saving_circle',
  'saving_goal',
  'product',
  'webhook_delivery',
  'event',
] as const;

/** A search result; `text` describes it by references, amounts and statuses, without personal data. */
export interface Found {
  type: (typeof foundTypes)[number];
  id: string;
  text: string;
  at: Date;
}

export const mostFound = 20;

/** A searchable type: its table, its description, and the conditions that find it, each with one parameter. */
interface Kind {
  type: Found['type'];
  table: string;
  /** An SQL expression. */
  text: string;
  by: ('id' | string)[];
  /** `created_at` by default. */
  at?: string;
}

const texts = (column: string): string => `${column} = any(?::text[])`;
const id = 'id = ?::uuid';

const kinds: Kind[] = [
  {
    type: 'payout',
    table: 'payouts',
    text: "reference || ', ' || replace(kind, '_', ' ') || ', IDR ' || amount || ', ' || status",
    by: [
      id,
      texts('reference'),
      `external_ref is not null and ${texts('external_ref')}`,
      texts('provider_transfer_id'),
    ],
  },
  {
    type: 'payout_batch',
    table: 'payout_batches',
    text: "coalesce(external_ref || ', ', '') || item_count || ' payouts, IDR ' || total_amount || ', ' || replace(status, '_', ' ')",
    by: [id, `external_ref is not null and ${texts('external_ref')}`],
  },
  {
    type: 'partner_payment',
    table: 'partner_payments',
    text: "coalesce(external_ref || ', ', '') || 'IDR ' || amount || ', ' || lower(status)",
    by: [id, `external_ref is not null and ${texts('external_ref')}`, texts('provider_payment_request_id')],
  },
  {
    type: 'partner_instrument',
    table: 'partner_instruments',
    text: "coalesce(external_ref || ', ', '') || status",
    by: [id, `external_ref is not null and ${texts('external_ref')}`, texts('provider_payment_method_id')],
  },
  {
    type: 'payment_order',
    table: 'payment_orders',
    text: "replace(reference_type, '_', ' ') || ', IDR ' || nominal || ', ' || status",
    by: [id, texts('provider_payment_request_id')],
  },
  {
    type: 'receipt',
    table: 'receipts',
    text: "'IDR ' || amount || ', ' || state || coalesce(', ' || replace(reason, '_', ' '), '')",
    by: [id, texts('provider_payment_id'), `state <> 'applied' and ${texts('reference')}`],
    at: 'received_at',
  },
  {
    type: 'reconciliation',
    table: 'reconciliations',
    text: "kind || ' of ' || day || ', ' || state",
    by: [id, texts('subject'), texts('reference')],
  },
  {
    type: 'decision',
    table: 'decisions',
    text: "replace(kind, '_', ' ') || ', ' || status",
    by: [id, texts('reference')],
  },
  { type: 'partner', table: 'partners', text: "name || ', ' || status", by: [id] },
  { type: 'user', table: 'users', text: "user_type || ', ' || status", by: [id] },
  { type: 'organization', table: 'organizations', text: "name || ', ' || status", by: [id] },
  { type: 'account', table: 'accounts', text: "replace(kind, '_', ' ')", by: [id] },
  {
    type: 'transaction',
    table: 'transactions',
    text: "replace(reference_type, '_', ' ') || ', ' || type || ', IDR ' || amount || ', ' || status",
    by: [id],
  },
  { type: 'charitable_cause', table: 'charitable_causes', text: "name || ', ' || status", by: [id] },
  { type: 'donation', table: 'donations', text: "'IDR ' || amount || ', ' || status", by: [id] },
  {
    type: 'donation_subscription',
    table: 'donation_subscriptions',
    text: "\"interval\" || ', IDR ' || amount || ', ' || status",
    by: [id],
    at: 'started_at',
  },
  { type: 'saving_circle', table: 'saving_circles', text: "name || ', ' || status", by: [id] },
  { type: 'saving_goal', table: 'saving_goals', text: "'goal, ' || status", by: [id] },
  { type: 'product', table: 'products', text: "name || ', ' || status", by: [id] },
  { type: 'webhook_delivery', table: 'webhook_deliveries', text: "type || ', ' || status", by: [id] },
  { type: 'event', table: 'events', text: "event || ' of ' || resource_type", by: [id] },
];

/** Builds a query for each kind of search key, so that each uses its index and reads no more rows than are shown. */
const selectOf = ({ type, table, text, at = 'created_at' }: Kind, condition: string): string =>
  `(select '${type}' as type, id, ${text} as text, ${at} as at from ${table} where ${condition} limit ${mostFound})`;

/**
 * Finds resources with exactly this id, reference, external reference or provider's id, and the user with this e-mail
 * address in any case: newest first, at most 20. Throws KeysAway for an address whose digest cannot be computed now.
 */
export async function search(
  em: EntityManager,
  sealer: Sealer,
  { q, caller, requestId }: { q: string; caller: Caller; requestId: string },
): Promise<Found[]> {
  const asked: [sql: string, param: unknown][] = [];
  const texted = textArray([...new Set([q, q.trim()])]);
  const sought = q.trim();
  for (const kind of kinds) {
    for (const condition of kind.by) {
      if (condition !== id) asked.push([selectOf(kind, condition), texted]);
      else if (isUuid(sought)) asked.push([selectOf(kind, condition), canonicalId(sought)]);
    }
    if (!sought.includes('@')) continue;
    if (kind.type === 'user') asked.push([selectOf(kind, 'email_digest = ?'), await emailDigest(sealer, sought)]);
    if (kind.type === 'organization') asked.push([selectOf(kind, 'lower(email) = ?'), foldEmail(sought)]);
  }
  const rows = await em.execute<(Omit<Found, 'at'> & { at: Date | string })[]>(
    `select distinct type, id, text, at from (${asked.map(([sql]) => sql).join(' union all ')}) found
     order by at desc, id desc limit ${mostFound}`,
    asked.map(([, param]) => param),
  );
  for (const { type, id: userId } of rows.filter((row) => row.type === 'user')) {
    await recordReadOfOthers(em, caller, { resourceType: type, resourceId: userId, ownerId: userId, requestId });
  }
  return rows.map(({ at, ...found }) => ({ ...found, at: new Date(at) }));
}
