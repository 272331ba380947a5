import { at, id } from './grown.ts';

/**
 * The rows that operations write to one table: columns, a `select` list over `n`, a condition for the operations that
 * write one, and optionally `every`, to consider only every `every`-th operation.
 */
export type Left = readonly [table: string, columns: string, select: string, where: string, every?: number];

/** The rows of a journal in each of its tables, for the operations that post it. */
export function journal(
  kind: string,
  journalId: string,
  key: string,
  postings: readonly (readonly [account: string, amount: number])[],
  where: string,
): Left[] {
  return [
    ['journal_keys', 'business_key, journal_id', `${key}, ${journalId}`, where],
    ['journals', 'id, business_key, kind, created_at', `${journalId}, ${key}, '${kind}', ${at()}`, where],
    ...postings.map(
      ([accountId, amount]): Left => [
        'postings',
        'journal_id, account_id, amount, created_at',
        `${journalId}, ${accountId}, ${amount}, ${at()}`,
        where,
      ],
    ),
    ['seal_journals', 'journal_id, seal_number', `${journalId}, ${sealOf}`, `${where} and ${isSealedDay(dayOf(at()))}`],
  ];
}

/** One seal for each day, UTC+7, starting with the first day. */
export const dayOf = (instant: string): string => `(${instant} at time zone interval '7 hours')::date`;
/** Whether the day was sealed before the year ended: a day is sealed 46 minutes into the next. */
export const isSealedDay = (day: string): string =>
  `(${day} + 1)::timestamp at time zone interval '7 hours' + interval '46 minutes' < timestamptz ':end'`;
const sealOf = `1 + (${dayOf(at())} - ${dayOf(at('1'))})`;

/** Limits the rows to every `every`-th operation. */
export const onlyEvery = (every: number, lefts: readonly Left[]): Left[] =>
  lefts.map(([table, columns, select, where]) => [table, columns, select, where, every]);

export const transactionColumns = `id, user_id, amount, status, date, source_account_id, destination_account_id, type,
  reference_type, reference_id, batch_id, purpose, payment_order_id, created_at, updated_at`;
export const isYoung = `${at()} > timestamptz ':end' - interval '31 days'`;

export const callbacks = (order: string, where: string): Left[] => [
  ['callback_keys', 'webhook_id, body_digest, callback_id', `'grown-' || n, md5(n::text), ${id('callback')}`, where],
  [
    'gateway_callbacks',
    `id, webhook_id, event, kind, reference, provider_payment_id, provider_payment_method_id, body_sealed, body_digest,
     body_bytes, received_at, delivered_at`,
    `${id('callback')}, 'grown-' || n, 'payment.succeeded', 'payment', ${order}::text, 'py-' || n, 'pm-' || n,
     repeat('x', 600), md5(n::text), 400, ${at()}, ${at()}`,
    where,
  ],
];

export const opening = (kind: string, resourceId: string, where: string): Left => [
  'requests',
  'owner_id, key_hash, fingerprint, resource_id, kind, made, decided_at',
  `${resourceId}, '', '', ${resourceId}, '${kind}', n, ${at()}`,
  `${where} and ${isYoung}`,
];

export const event = (resource: string, resourceId: string, actor: string, where: string, name = 'event'): Left => [
  'events',
  'id, event, impact, resource_type, resource_id, actor_id, created_at, data',
  `${id(name)}, 'RESOURCE_UPDATED', 'MEDIUM', '${resource}', ${resourceId}::text, ${actor}, ${at()},
   '{"status": "ended"}'`,
  where,
];
