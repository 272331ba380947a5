import pg from 'pg';
import { monthsSince } from '../../test/support/make-months.ts';
import {
  at,
  causes,
  circles,
  type GrownYear,
  id,
  isPersonal,
  memberAccount,
  memberUser,
  ofYear,
  openCircle,
  organizationOfCause,
  partners,
  users,
} from './grown.ts';
import { dayOf, type Left } from './left.ts';
import { operationsOfPartners } from './operations-of-partners.ts';
import { operationsOfPeople } from './operations-of-people.ts';
import { rareOperations } from './rare-operations.ts';
import { rareThings, type Thing } from './rare-things.ts';

const operations = [...operationsOfPartners, ...operationsOfPeople, ...rareOperations];

const first = at('1');

/** The rows that exist before the year begins: columns, a `select` list over `n`, and how many there are. */
const things = (year: GrownYear): Thing[] => [
  [
    'organizations',
    'id, name, email, status, created_at',
    `${id('organization')}, 'Organization ' || n, n || '@organization.example', 'active', ${first}`,
    partners(year),
  ],
  [
    'users',
    'id, user_type, organization_id, role_id, status, password_sealed, created_at',
    `${id('user')}, 'individual', null::uuid,
     (select id from roles where name = 'individual_user'), 'active', 'none', ${at()}`,
    users(year),
  ],
  [
    'accounts',
    'id, name, kind, user_id, created_at',
    `${id('account')}, 'Main', 'user', ${id('user')}, ${at()}`,
    users(year),
  ],
  ...(['available', 'pending', 'reserved'] as const).map((kind): [string, string, string, number] => [
    'accounts',
    'id, name, kind, organization_id, owner_id, created_at',
    `${id(kind)}, '${kind}', 'partner_${kind}', ${id('organization')}, ${id('partner')}, ${first}`,
    partners(year),
  ]),
  [
    'partners',
    `id, name, organization_id, status, fee_mode, available_account_id, pending_account_id, reserved_account_id,
     max_payout_amount, max_daily_amount, max_hourly_count, created_at`,
    `${id('partner')}, 'Partner ' || n, ${id('organization')}, 'active', 'DEDUCTED', ${id('available')}, ${id('pending')},
     ${id('reserved')}, 1000000000, 1000000000000, 1000000, ${first}`,
    partners(year),
  ],
  [
    'webhook_endpoints',
    'id, partner_id, url, events, secret_sealed, created_at',
    `${id('endpoint')}, ${id('partner')}, 'https://grown.example', '{payment.succeeded,payout.succeeded}', 'x', ${first}`,
    partners(year),
  ],
  [
    'accounts',
    'id, name, kind, user_id, organization_id, created_at',
    `${id('cause account')}, 'Cause', case when ${isPersonal('n')} then 'user' else 'organization' end,
     case when ${isPersonal('n')} then ${id('user', '1')} end,
     case when not (${isPersonal('n')}) then ${organizationOfCause('n')} end, ${at()}`,
    causes(year),
  ],
  [
    'charitable_causes',
    `id, name, description, target_amount, regulations, benefit, owner_type, organization_id, account_id, status,
     created_by, approved_by, approved_at, created_at`,
    `${id('cause')}, 'Well', 'A well', 1000000, 'none', 'water',
     case when ${isPersonal('n')} then 'individual' else 'organization' end,
     case when not (${isPersonal('n')}) then ${organizationOfCause('n')} end, ${id('cause account')}, 'active', ${id('user', '1')}, ${id('user', '1')}, ${at()}, ${at()}`,
    causes(year),
  ],
  [
    'accounts',
    'id, name, kind, owner_id, created_at',
    `${id('holding')}, 'Circle', 'circle_holding', ${id('circle')}, ${at()}`,
    circles(year),
  ],
  [
    'saving_circles',
    `id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity, amount, visibility,
     round_interval, turn_order, start_date, starts_at, status, current_turn, first_turn, started_at, ended_at, created_at`,
    `${id('circle')}, 'Circle', ${memberAccount('2 * (n - 1)')}, ${id('holding')}, 'individual', ${memberUser('2 * (n - 1)')},
     ${memberUser('2 * (n - 1)')}, 2, 10000, 'private', 'monthly', 'joining', '2026-01-01', ${at('40 * n - 30')},
     case when ${openCircle('n')} then 'active' else 'completed' end, 2, 1, ${at('40 * n - 30')},
     case when not ${openCircle('n')} then ${at('40 * n')} end, ${at('40 * n - 30')}`,
    circles(year),
  ],
  [
    'saving_circle_members',
    'id, saving_circle_id, account_id, user_id, turn_number, created_at',
    `${id('member', '(n - 1)')}, ${id('circle', '1 + (n - 1) / 2')}, ${memberAccount('n - 1')}, ${memberUser('n - 1')},
     1 + (n - 1) % 2, ${at('20 * n')}`,
    2 * circles(year),
  ],
  [
    'saving_circle_rounds',
    'saving_circle_id, turn_number, receiver_member_id, opened_at, due_at, look_at',
    `${id('circle')}, 2, ${id('member', '2 * n - 1')}, ${at('40 * n - 10')}, timestamptz ':end' + interval '20 days',
     timestamptz ':end' + interval '19 days'`,
    circles(year),
  ],
  ...rareThings(year),
  [
    'seals',
    'number, hash, jws, pass, sealed_at, covers_until',
    `n, md5('seal ' || n), 'none', 'grown', day.ends + interval '46 minutes', day.ends + interval '45 minutes'`,
    367,
  ],
];

/** Conditions for tables in which not every number has a row. */
const only: Record<string, string> = {
  saving_circle_rounds: openCircle('n'),
  seals: `day.ends + interval '46 minutes' < timestamptz ':end'`,
};
const dayEnds = `cross join lateral (select (${dayOf(first)} + n::int)::timestamp at time zone interval '7 hours' as ends) day`;

/** Inserts the derived rows that triggers would have maintained. */
const derived = [
  `insert into account_balances (account_id, shard, balance)
   select a.id, 0, coalesce(p.balance, 0) from accounts a
   left join (select account_id, sum(amount) as balance from postings group by 1) p on p.account_id = a.id
   on conflict (account_id, shard) do update set balance = excluded.balance`,
  `insert into cause_totals (cause_id, shard, donated, donations)
   select cause_id, 1, sum(amount), count(*) from donations where cause_id is not null group by 1`,
  `insert into transaction_counts (reference_type, type, shard, count)
   select reference_type, type, 1, count(*) from transactions group by 1, 2`,
  `insert into booked_transfers (provider_id, payout_id, booked_at)
   select provider_transfer_id, id, succeeded_at from payouts where status = 'succeeded'`,
  `insert into payout_tallies (owner_id, starts_at, amount, payouts)
   select owner_id, tally_start(created_at), sum(amount), count(*) from limited_payouts
   where created_at > timestamptz ':end' - interval '2 days' group by 1, 2`,
  `select setval('opening_numbers', :rows + 1)`,
  `select setval('official_document_ids', :rows + 1)`,
];

/** The year is written in this many consecutive slices, so that rows are stored in order of time, as in production. */
const parts = 20;

/**
 * Fills a database with a year of operations, as the owner, in large statements and without triggers: the `check_*`
 * views show that the result obeys all rules.
 */
export async function fillYear(url: string, year: GrownYear): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = (sql: string) => client.query(ofYear(year, sql));
  try {
    await run(
      `set session_replication_role = 'replica'; set statement_timeout = 0; set transaction_timeout = 0;
       set synchronous_commit = off; set maintenance_work_mem = '256MB'; set timezone = 'UTC'`,
    );
    await client.query(monthsSince('13 months'));
    const indexes = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid = any($1::regclass[]) and not indisunique`,
      [[...new Set(operations.map(([table]) => table))]],
    );
    for (const { name } of indexes.rows) await client.query(`drop index ${name}`);
    for (const [table, columns, select, count] of things(year)) {
      await run(
        `insert into ${table} (${columns}) select ${select} from generate_series(1, ${count}) n
         ${table === 'seals' ? dayEnds : ''} where ${only[table] ?? 'true'}`,
      );
    }
    for (let part = 0; part < parts; part += 1) {
      const from = Math.floor((year.rows * part) / parts) + 1;
      const to = Math.floor((year.rows * (part + 1)) / parts);
      for (const left of operations) await run(insertOf(left, from, to));
    }
    for (const sql of derived) await run(sql);
    // Includes the monthly partitions.
    for (const { definition } of indexes.rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
    await client.query('do $$ begin while close_day() is not null loop end loop; end $$');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

const insertOf = ([table, columns, select, where, every = 1]: Left, from: number, to: number): string =>
  `insert into ${table} (${columns}) select ${select}
   from generate_series(${Math.ceil(from / every) * every}, ${to}, ${every}) n where ${where}`;
