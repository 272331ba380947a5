import { createHash } from 'node:crypto';
import pg from 'pg';
import { monthsSince } from '../../support/make-months.ts';

/** The owners of most rows: a person, an organization and a partner with a long history. */
export interface Owners {
  userId: string;
  accountId: string;
  organizationId: string;
  partnerId: string;
  causeId: string;
  categoryId: string;
}

/** The id of the row with this number, as SQL: it grows with the number, and is unique to its kind. */
const id = (kind: string, number = 'n'): string =>
  `(lpad(to_hex((${number})::bigint), 12, '0') || '${createHash('md5').update(kind).digest('hex').slice(0, 20)}')::uuid`;

/** A year of rows, the last of them a few minutes ago. */
const at = `timestamptz ':now' - interval '5 minutes' - (:rows - n) * (interval '1 year' / :rows)`;

/** Like `id`, for tables partitioned by month: a version 7 UUID with the row's time. */
const timed = (kind: string): string => {
  const digest = createHash('md5').update(kind).digest('hex');
  return `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7${digest.slice(0, 3)}8'
    || lpad(to_hex(n::bigint), 15, '0'))::uuid`;
};

const clearing = `'00000000-0000-4000-8000-000000000001'::uuid`;
/** One row in fifty is the person's, one in ten the organization's, a third the partner's. */
const user = `case when n % 50 = 0 then :user else ${id('user')} end`;
/** Few people run circles. */
const circleOwner = `case when n % 5000 = 0 then :user else ${id('user')} end`;
const account = `case when n % 50 = 0 then :account else ${id('account')} end`;
const organization = `case when n % 10 = 0 then :organization end`;
const partner = `case when n % 3 = 0 then :partner else ${id('partner', 'n % 200')} end`;
const cause = `case when n % 20 = 0 then :cause else ${id('cause', 'n % (:rows / 10)')} end`;
/** All but the last twenty of a kind are final. */
const isOpen = '(n > :rows - 20)';
/** One payout in twenty has failed. */
const hasFailed = '(n % 20 = 7)';

/** Each table's columns, the `select` over `n` that fills them, and its share of `rows`. */
const tables: [table: string, columns: string, select: string, share?: number][] = [
  [
    'organizations',
    'id, name, email, status',
    `${id('organization')}, 'Grown ' || n, n || '@o.example', 'active'`,
    0.1,
  ],
  [
    'users',
    'id, profile_sealed, email_digest, user_type, organization_id, role_id, status, password_sealed, created_at',
    `${id('user')}, repeat('s', 240), n || ' digest', 'individual', ${organization},
     (select id from roles where name = 'individual_user'), 'active', 'none', ${at}`,
  ],
  ['accounts', 'id, name, kind, user_id, created_at', `${id('account')}, 'Main', 'user', ${id('user')}, ${at}`],
  ['account_balances', 'account_id, shard, balance', `${id('account')}, 0, 5`],
  ['account_balances', 'account_id, shard, balance', `${id('account')}, 1 + n % 16, 5`],
  ['journal_keys', 'business_key, journal_id', `'grown/' || n, ${id('journal')}`],
  ['journals', 'id, business_key, kind, created_at', `${id('journal')}, 'grown/' || n, 'grown', ${at}`],
  ['seal_journals', 'journal_id, seal_number', `${id('journal')}, 1 + n / 1000`],
  ['postings', 'journal_id, account_id, amount, created_at', `${id('journal')}, ${clearing}, -1, ${at}`],
  ['postings', 'journal_id, account_id, amount, created_at', `${id('journal')}, ${account}, 1, ${at}`],
  [
    'transactions',
    `id, user_id, organization_id, amount, status, date, source_account_id, destination_account_id, type,
     reference_type, reference_id, batch_id, purpose, created_at, updated_at`,
    `${id('transaction')}, ${user}, ${organization}, 1, 'successful', ${at}, ${account}, ${id('account', 'n + 1')},
     'price', 'donation', ${cause}, ${id('journal')}, 'product_transfer', ${at}, now()`,
  ],
  [
    'transaction_organizations',
    'organization_id, transaction_id, created_at, user_id, reference_type, type, reference_id',
    `case when n % 2 = 0 then :organization else ${id('organization', 'n % 1000')} end, ${id('transaction')}, ${at},
     ${user}, 'donation', 'price', ${cause}`,
  ],
  [
    'transaction_receivers',
    'user_id, transaction_id, created_at, reference_type, type, reference_id',
    `case when n % 50 = 25 then :user else ${id('user', 'n + 1')} end, ${id('transaction')}, ${at}, 'donation', 'price',
     ${cause}`,
  ],
  [
    'events',
    'id, event, impact, resource_type, resource_id, actor_id, created_at, data',
    `${timed('event')}, 'RESOURCE_CREATED', case when n % 4 = 0 then 'LOW' else 'MEDIUM' end, 'transaction', ${id('transaction')}::text,
     ${user}, ${at}, '{}'`,
  ],
  ['callback_keys', 'webhook_id, body_digest, callback_id', `'grown-' || n, md5(n::text), ${timed('callback')}`],
  [
    'gateway_callbacks',
    `id, webhook_id, event, kind, reference, body_sealed, body_digest, body_bytes, unread, received_at, delivered_at`,
    `${timed('callback')}, 'grown-' || n, case when not broken then 'payment.succeeded' end,
     case when not broken then 'payment' end, case when not broken then ${id('order')}::text end, 'x', md5(n::text), 1,
     case when broken then 'unknown event' end, ${at}, case when not broken and not ${isOpen} then now() end`,
  ],
  [
    'payment_orders',
    `id, user_id, organization_id, reference_type, reference_id, target_account_id, payment_id, nominal, admin_fee,
     status, provider_payment_method_id, expires_at, created_at, updated_at, finalized_at`,
    `${id('order')}, ${user}, ${organization}, 'account_top_up', ${id('account')}, ${account}, 1, 10, 1,
     case when ${isOpen} then 'WAITING_PAYMENT' else 'PAID' end, 'pm-' || n, ${at} + interval '1 day', ${at}, ${at},
     case when not ${isOpen} then now() end`,
  ],
  [
    'partner_payments',
    `id, partner_id, external_ref, channel_id, fee_mode, amount, fee, net_amount, status, expires_at, finalized_at,
     available_at, released_at, created_at, updated_at`,
    `${id('payment')}, ${partner}, 'ref-' || n, 1, 'DEDUCTED', 10, 1, 9,
     case when ${isOpen} then 'WAITING_PAYMENT' else 'PAID' end, ${at} + interval '1 day',
     case when not ${isOpen} then now() end, case when not ${isOpen} then now() end,
     case when n < :rows - 40 then now() end, ${at}, ${at}`,
  ],
  [
    'receipts',
    `id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason, order_id,
     partner_payment_id, received_at`,
    `${id('receipt')}, 'py-' || n, 'pm-' || n, ${id('order')}::text, 11,
     case when ${isOpen} then 'suspended' else 'applied' end, case when ${isOpen} then 'unknown' end,
     case when not ${isOpen} and n % 2 = 0 then ${id('order')} end,
     case when not ${isOpen} and n % 2 = 1 then ${id('payment')} end, ${at}`,
  ],
  [
    'payouts',
    `id, kind, source_account_id, reserved_account_id, partner_id, reference, external_ref, fee_mode, amount, fee,
     net_amount, bank_code, texts_sealed, status, failure_code, has_left, provider_transfer_id, look_again_at, finalized_at,
     created_at, updated_at`,
    `${id('payout')}, 'partner_payout', ${account}, ${account}, ${partner}, 'PO-' || n, 'ref-' || n, 'DEDUCTED', 10, 1, 9, 'BCA', 'x',
     case when ${isOpen} then 'pending' when ${hasFailed} then 'failed' else 'succeeded' end,
     case when ${hasFailed} and not ${isOpen} then 'REFUSED' end, ${isOpen} or not ${hasFailed}, 'disb-' || n,
     case when ${isOpen} then now() + interval '1 day' end, case when not ${isOpen} then now() end, ${at}, ${at}`,
  ],
  ['booked_transfers', 'provider_id, payout_id, booked_at', `'disb-' || n, ${id('payout')}, ${at}`],
  [
    'partner_instruments',
    'id, partner_id, channel_id, external_ref, status, closed_at, created_at, updated_at',
    `${id('instrument')}, ${partner}, 1, 'ref-' || n, 'closed', ${at}, ${at}, ${at}`,
  ],
  [
    'payout_batches',
    `id, partner_id, external_ref, fee_mode, item_count, total_amount, total_fee, status, made_by, decided_by, decided_at,
     lapses_at, finalized_at, created_at, updated_at`,
    `${id('batch')}, ${partner}, 'ref-' || n, 'DEDUCTED', 1, 10, 1, 'rejected', ${id('key')}, ${id('key others')}, ${at}, ${at},
     ${at}, ${at}, ${at}`,
  ],
  [
    'payout_batch_items',
    `id, batch_id, place, reference, external_ref, amount, fee, net_amount, provider_fee, bank_code, texts_sealed, created_at`,
    `${id('item')}, ${id('batch')}, 1, 'PO-' || n, 'ref-' || n, 10, 1, 9, 0, 'BCA', 'x', ${at}`,
  ],
  [
    'bank_account_checks',
    'id, partner_id, account_digest, bank_code, asked_at',
    `${id('check')}, ${partner}, 'x' || n, 'BCA', ${at}`,
  ],
  ['bank_account_questions', 'partner_id, account_digest, asked_at', `${partner}, 'x' || n, ${at}`],
  [
    'payout_attempts',
    'payout_id, number, sent_at, outcome, answered_at',
    `${id('payout')}, 1, ${at}, 'accepted', ${at}`,
  ],
  ['payout_tallies', 'owner_id, starts_at, amount, payouts', `${id('user')}, tally_start(${at}), 10, 1`],
  ['payout_words', 'payout_id, said, at', `${id('payout')}, 'succeeded', ${at}`],
  [
    'webhook_endpoints',
    'id, partner_id, url, events, secret_sealed, created_at',
    `${id('endpoint')}, ${id('partner')}, 'https://grown.example', '{payment.failed}', 'x', ${at}`,
    0.1,
  ],
  [
    'webhook_version_keys',
    'resource_type, resource_id, version, endpoint_id, delivery_id',
    `'payment', ${id('payment')}, 1, ${id('endpoint')}, ${timed('delivery')}`,
  ],
  [
    'webhook_deliveries',
    `id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed, body_digest, status, attempts,
     next_attempt_at, delivered_at, created_at`,
    `${timed('delivery')}, ${partner}, ${id('endpoint')}, 'payment', ${id('payment')}, 1, 'payment.succeeded', 'x', 'x',
     case when ${isOpen} then 'pending' else 'delivered' end, 1,
     case when ${isOpen} then now() + interval '1 day' end, case when not ${isOpen} then now() end, ${at}`,
  ],
  [
    'requests',
    'id, owner_id, key_hash, fingerprint, resource_id, kind, made, answer_status, answer_sealed, decided_at',
    `${id('key')}, ${partner}, md5('key ' || n), 'f', ${id('payment')}, 'partner_payment', n, case when n > :rows * 0.9 then 200 end,
     case when n > :rows * 0.9 then 'x' end, ${at}`,
  ],
  [
    'requests',
    'owner_id, key_hash, fingerprint, resource_id, made, answer_status, answer_body, decided_at',
    `${user}, md5('key ' || n), 'f', ${id('transaction')}, n, 201, '{}', ${at}`,
  ],
  [
    'requests',
    'owner_id, key_hash, fingerprint, resource_id, kind, made, decided_at',
    `${id('order')}, '', '', ${id('order')}, 'payment_order', n, ${at}`,
  ],
  [
    'charitable_causes',
    `id, name, description, target_amount, regulations, benefit, owner_type, organization_id, account_id, status,
     created_by, approved_by, approved_at, created_at`,
    `${id('cause')}, 'Well', 'A well', 1000000, 'none', 'water', 'individual', ${organization}, ${id('cause account')}, 'active',
     ${user}, ${user}, now(), ${at}`,
    0.1,
  ],
  ['saving_circle_invitations', 'saving_circle_id, user_id, created_by', `${id('circle')}, ${user}, ${user}`, 0.1],
  ['cause_managers', 'cause_id, user_id, created_by', `${id('cause')}, ${user}, ${user}`, 0.1],
  ['cause_totals', 'cause_id, shard, donated, donations', `${id('cause')}, 1 + n % 16, 10, 10`, 0.1],
  [
    'donations',
    'id, user_id, type, amount, status, cause_id, transaction_id, created_at, updated_at',
    `${id('donation')}, ${user}, case when n % 100 = 0 then 'open' else 'specific' end, 1, 'completed',
     case when n % 100 <> 0 then ${cause} end, ${id('transaction')}, ${at}, ${at}`,
  ],
  [
    'donation_subscriptions',
    'id, user_id, cause_id, amount, source_account_id, interval, status, started_at, periods_paid, ended_at, created_at',
    `${id('subscription')}, ${user}, ${cause}, 1, ${account}, 'monthly',
     case when n % 100 = 0 then 'active' else 'stopped' end, now() - interval '20 days', 1,
     case when n % 100 <> 0 then ${at} end, ${at}`,
  ],
  [
    'donation_subscription_attempts',
    'subscription_id, period, attempt, outcome, due_at',
    `${id('subscription')}, 0, 1, 'paid', ${at}`,
  ],
  [
    'donation_allocations',
    'id, attempt_id, cause_id, donation_count, total_amount, journal_id, created_by',
    `${id('allocation')}, ${id('attempt')}, ${cause}, 1, 1, ${id('journal')}, ${user}`,
    0.1,
  ],
  [
    'saving_goals',
    'id, user_id, name, account_id, target_amount, status, created_at',
    `${id('goal')}, ${user}, 'Goal', ${id('goal account')}, 1000, 'active', ${at}`,
  ],
  [
    'saving_goal_orders',
    'payment_order_id, saving_goal_id, status',
    `${id('order')}, ${id('goal')}, case when ${isOpen} then 'pending' else 'completed' end`,
  ],
  [
    'products',
    'id, kind, name, account_id, status, created_by, created_at',
    `${id('product')}, 'investment', 'Product', ${id('product account')}, 'open', ${user}, ${at}`,
    0.1,
  ],
  [
    'saving_circles',
    `id, name, account_id, holding_account_id, owner_type, owner_id, organization_id, created_by, capacity, amount,
     visibility, round_interval, turn_order, start_date, starts_at, status, current_turn, first_turn, started_at,
     ended_at, created_at`,
    `${id('circle')}, 'Circle', ${id('account')}, ${id('holding')}, 'individual', ${circleOwner}, ${organization}, ${circleOwner}, 10, 10,
     'private', 'monthly', 'joining', '2026-01-01', ${at}, case when n % 20 = 0 then 'active' else 'completed' end, 1, 1,
     ${at}, case when n % 20 <> 0 then ${at} end, ${at}`,
    0.1,
  ],
  [
    'saving_circle_members',
    'id, saving_circle_id, account_id, user_id, turn_number',
    `${id('member')}, ${id('circle', 'n / 10')}, ${id('account')}, ${id('user')}, 1 + n % 10`,
  ],
  [
    'saving_circle_rounds',
    'saving_circle_id, turn_number, receiver_member_id, opened_at, due_at, look_at',
    `${id('circle')}, 1, ${id('member', 'n * 10')}, ${at}, now() + interval '20 days', now() + interval '19 days'`,
    0.1,
  ],
  [
    'saving_circle_contributions',
    `id, saving_circle_id, member_id, user_id, turn_number, amount, rail, status, refund_account_id, transaction_id,
     swept_at, created_at, updated_at`,
    `${id('contribution')}, ${id('circle', 'n / 10')}, ${id('member')}, ${id('user')}, 1, 10, 'balance', 'completed',
     ${id('account')}, ${id('transaction')}, now(), ${at}, ${at}`,
  ],
  [
    'documents',
    `id, url_sealed, url_hash, document_type, product_type, product_id, visibility, organization_id, category_id,
     content_type, size_bytes, created_by, created_at`,
    `${id('document')}, 'x', md5('object ' || n), 'receipt', 'transaction', ${id('transaction')},
     case when n % 100 = 0 then 'public' else 'private' end, ${organization},
     case when n % 100 = 0 then :category end, 'image/png', 1, ${user}, ${at}`,
  ],
  [
    'official_documents',
    'id, user_id, organization_id, kind, details_sealed, document_id, verification_status, created_at',
    `1000000000 + n, ${user}, ${organization}, 'passport', 'x', ${id('document')}, 'verified', ${at}`,
  ],
  [
    'addresses',
    'id, user_id, organization_id, address_type, details_sealed, created_by, created_at',
    `${id('address')}, ${user}, ${organization}, case when n % 10 = 0 then 'organization' else 'individual' end, 'x',
     ${user}, ${at}`,
  ],
  [
    'erasures',
    'id, user_id, status, begun_at, erased_at, ended_at',
    `${id('erasure')}, ${id('user')}, 'complete', ${at}, ${at}, ${at}`,
    0.1,
  ],
  ['legal_holds', 'id, user_id, note, placed_by, placed_at', `${id('hold')}, ${id('user')}, 'x', ${user}, ${at}`, 0.1],
  [
    'invitations',
    'id, user_id, token_hash, expires_at, accepted_at, created_by, created_at',
    `${id('invitation')}, ${id('user')}, md5('token ' || n), ${at} + interval '7 days', now(), ${user}, ${at}`,
  ],
  ['known_logins', 'account_hash, address, logged_in_at', `md5('login ' || n), '10.0.0.' || n % 250, now()`],
  ['login_failures', 'address, account_hash, failed_at', `'10.0.0.' || n % 250, md5('login ' || n), now()`, 0.1],
  ['revoked_tokens', 'id, expires_at', `${id('token')}::text, now() + interval '1 hour'`],
  ['second_factors', 'id, secret_sealed, confirmed_at', `${id('user')}, 'x', now()`, 0.1],
  ['recovery_codes', 'user_id, code_hash', `${id('user', 'n / 10')}, md5('code ' || n)`],
  [
    'roles',
    'id, name, display_name, organization_id, user_type, description',
    `${id('role')}, 'grown-' || n, 'Grown', ${id('organization')}, 'organization', ''`,
    0.1,
  ],
];

/** Scanning a smaller table costs less than using an index. */
const smallestBig = 10_000;

/** The tables that are big in a grown database. */
export const bigTables = (rows: number): ReadonlySet<string> =>
  new Set(tables.filter(([, , , share = 1]) => rows * share >= smallestBig).map(([table]) => table));

/** The id of a transaction that the person received and did not pay. */
export const receivedTransaction = `select ${id('transaction', '25')} as id`;

/**
 * Fills each big table with this many rows (a tenth where production has fewer), as the owner, bypassing triggers and
 * foreign keys, and updates the planner's statistics.
 */
export async function growDatabase(url: string, rows: number, owners: Owners): Promise<void> {
  const literals: Record<string, string> = {
    rows: String(rows),
    now: new Date().toISOString(),
    user: `'${owners.userId}'::uuid`,
    account: `'${owners.accountId}'::uuid`,
    organization: `'${owners.organizationId}'::uuid`,
    partner: `'${owners.partnerId}'::uuid`,
    cause: `'${owners.causeId}'::uuid`,
    category: `'${owners.categoryId}'::uuid`,
  };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `set session_replication_role = 'replica'; set statement_timeout = 0; set transaction_timeout = 0;
       set synchronous_commit = off; set maintenance_work_mem = '256MB'`,
    );
    await client.query(monthsSince('1 year'));
    const indexes = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid = any($1::regclass[]) and not indisunique`,
      [tables.map(([table]) => table)],
    );
    for (const { name } of indexes.rows) await client.query(`drop index ${name}`);
    for (const [table, columns, select, share = 1] of tables) {
      const filled = select.replaceAll(/(?<!:):(\w+)/g, (name, key: string) => literals[key] ?? name);
      await client.query(
        `insert into ${table} (${columns}) select ${filled}
         from (select n, n % 1000 = 999 and n > ${rows} - 2000 as broken from generate_series(1, ${Math.floor(rows * share)}) n) rows`,
      );
    }
    // Without `ONLY`, an index of a partitioned table includes its partitions.
    for (const { definition } of indexes.rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
    for (const [table] of tables) await client.query(`vacuum (analyze) ${table}`);
  } finally {
    await client.end();
  }
}
