import { statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../../src/shared/ids.ts';
import { sealAll } from '../../ledger/seals/build-seals.ts';
import { generous } from '../../money-out/payouts/build-payouts.ts';
import { buildIndividual, buildOrganizationAdmin, buildSuperAdmin, fund } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { buildPartner } from '../../support/partner.ts';
import { isFullRun, testRun } from '../../support/run.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';
import { bigTables, growDatabase, receivedTransaction } from './grow-database.ts';
import { findProductStatements, piecesOf } from './product-statements.ts';
import { indexesIn, type PlanNode, type RunStatement, readPlans, tableOf, tablesReadWhole } from './read-plans.ts';
import { type Cast, readBooks, runProduct } from './run-product.ts';

/** With this many rows the planner uses its indexes; `AMANAH_PLAN_ROWS=1000000` takes half an hour. */
const rows = Number(process.env.AMANAH_PLAN_ROWS ?? (isFullRun() ? 60_000 : 20_000));
const preparedWithinMs = isFullRun() ? 90 * 60_000 : 300_000;

/** Statements that may scan big tables (those named, or any), and the reason. */
type Exemption = [statement: RegExp, tables: readonly string[] | 'any', reason: string];
const exemptions: Exemption[] = [
  [/^select \*, count\(\*\) over \(\) as violations from "check_/, 'any', 'a check reads the books'],
  [
    /^select count\(\*\) from journals j where not exists \(select from seal_journals /,
    'any',
    'npm run verify reads the books',
  ],
  [/^select seal_number, count\(\*\) as journals from seal_journals /, 'any', 'the same'],
  [/^select count\(\*\) as "?(total|count)"? from /, 'any', 'the total of a list counts its rows'],
  [
    /^select (row|t|"\w+")\.\*.*(kind|status|type|visibility|is_default|bank_code)"? (= (\?|true|false)|= any\(|in \(\?).* limit \d+/,
    'any',
    'a page filtered by a value that few rows have; not every value has an index',
  ],
  [/^select id, event, .* from events where true and (event|resource_type) = \? .* limit \d+/, ['events'], 'the same'],
  [
    /^select null as organization_id, null as organization_name, /,
    ['saving_circles', 'charitable_causes', 'cause_totals', 'saving_circle_contributions', 'saving_circle_rounds'],
    'a summary of everything, for the platform',
  ],
  [
    /^select p\.id::text, .* from postings p join journals j on j\.id = p\.journal_id .* limit 1000$/,
    ['journals'],
    'a page of a thousand rows: a small table is read for less',
  ],
  [
    /^select 1 from users where id = \? .* transaction_organizations where .* limit 1\)$/,
    ['transaction_organizations'],
    'stops at the first matching row, and most rows match',
  ],
  [
    /^delete from bank_account_(checks|questions) where ctid = any/,
    ['bank_account_checks', 'bank_account_questions'],
    'half a year of rows is deleted at once here; in production only a day’s',
  ],
  [
    /^delete from login_failures where account_hash = /,
    ['login_failures'],
    'once for each erased person; only rows of fifteen minutes exist',
  ],
  [
    /^update gateway_callbacks c set delivered_at = null/,
    ['gateway_callbacks', 'receipts'],
    'once, when Temporal has lost its data',
  ],
  [
    /^(select array_agg\(old\.id|delete from events where id = any|update (gateway_callbacks c|webhook_deliveries d) set body_sealed = null)/,
    ['events', 'gateway_callbacks', 'webhook_deliveries'],
    'as many are deleted at once as these months have',
  ],
  // Half of the rows here expire in one round; in a larger table they are few, and found by age.
  ...(isFullRun() ? [] : [[/^update requests set answer_status = null/, ['requests'], 'the same'] satisfies Exemption]),
  [/^insert into users .* from roles where name = \?/, ['roles'], 'of this test, not of the product'],
  [
    /^update roles r set permission_names = /,
    ['roles'],
    'a list of changed roles, about which nothing is known beforehand',
  ],
  [
    /^select a\.id from accounts a where a\.kind in \(\?, \?\)$/,
    ['accounts'],
    'a position in the order of locks; it is never run',
  ],
];

/** Statements in the code that neither run here nor can be planned alone, and the reason. */
const unplanned: [file: string, statement: RegExp, reason: string][] = [
  ['src/platform/database/database-time-outs.ts', /^select name, setting::int/, 'reads settings'],
  [
    'src/money-in/collections/open-partner-payment.ts',
    /^with claim as/,
    'its parts are those of the neighbouring statement',
  ],
  ['src/money-in/payments/obtain-instrument.ts', /^select from/, 'a row by its id, after a refusal'],
  [
    'src/money-in/payments/settle-receipt.ts',
    /^select distinct subject from transfers_beyond_ours/,
    'rows of a function that the decision about a transfer runs here',
  ],
  ['src/people/identity/refresh-tokens.ts', /^insert/, 'a row'],
  ['src/people/mail/unsubscribe.ts', /^update/, 'a row by its id'],
  ['src/platform/encryption/reencrypt.ts', /./, 'an operator re-encrypts whole tables, in batches by id'],
  ['src/platform/encryption/own-keys.ts', /./, 'of the keys database, each by its primary key'],
  ['src/platform/encryption/personal-keys.ts', /./, 'of the keys database, each by its primary key or a partial index'],
  ['src/platform/archive/month-rows.ts', /./, 'the owner archives whole months, in parts by id'],
  ['src/platform/archive/why-needed.ts', /./, 'the same'],
  ['src/platform/archive/archive-month.ts', /./, 'the same'],
  ['src/platform/archive/restore-month.ts', /./, 'the same'],
  ['src/platform/database/replica.ts', /await_replay/, 'it runs on a replica, and reads no table'],
  [
    'src/platform/housekeeping/sweep-rows.ts',
    /^with never_looked_at/,
    'releases rows that a sweep claimed, by their key, when its time is up',
  ],
];

/** Indexes that no plan uses here, and their purpose. */
const idleIndexes: Record<string, string> = {
  payment_orders_pending: 'as small as the index of all open orders, while few are open',
  payment_orders_settling: 'the same',
  partner_payments_pending: 'the same, of the payments of partners',
  partner_payments_settling: 'the same',
  transactions_of_batch: 'for following a journal to its transactions',
  events_of_reads: 'as many are deleted at once as these months have',
  gateway_callbacks_with_body: 'the same',
  webhook_deliveries_with_body: 'the same',
  donation_subscriptions_by_change: 'few change since the night; over so few rows the checks use other plans',
  donation_allocations_by_time: 'used up to 20,000 rows; above that the incremental check uses another plan',
  events_by_time: 'so small that it pays off only with many events',
  donations_of_batch: 'for following an allocation to its donations',
  transaction_organizations_by_time: 'used with fewer rows; with a million the incremental check uses another plan',
  requests_by_id: 're-encryption scans the table with it',
  requests_for_resource: 'for people who look up the outcome of a request',
};

let stack: Stack;
let owner: pg.Client;
/** The executed statements, once for each plan that reads different tables or indexes; `plansRead` counts all. */
const ran = new Map<string, RunStatement>();
let plansRead = 0;
const big = bigTables(rows);
/** Partitions with enough rows that a scan costs more than an index. */
const fullMonths = new Set<string>();
/** Maps each partition's index to that of its table. */
const indexOfMonth = new Map<string, string>();

beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true, env: { LOG_LEVEL: 'error' } });
  const url = stack.databaseUrls.owner;
  owner = new pg.Client({ connectionString: url });
  await owner.connect();
  const cast = await buildCast();
  // The grown journals refer to seals from this one on.
  await sealAll(stack);
  await growDatabase(url, rows, {
    userId: cast.person.id,
    accountId: cast.person.accountId,
    organizationId: String(cast.admin.organizationId),
    partnerId: cast.partner.id,
    causeId: cast.causeId,
    categoryId: cast.categoryId,
  });
  await findMonths();
  await explainWhatRuns({ nested: true });
  const log = join(testRun().directory, 'logs', 'postgres.log');
  const from = statSync(log).size;
  await runProduct(stack, cast);
  // Checks call the same function for each of up to a million rows.
  await explainWhatRuns({ nested: false });
  await readBooks(stack, cast);
  for await (const { sql, plan } of readPlans(log, from)) {
    plansRead += 1;
    const statement = { sql: withoutValues(sql), plan };
    ran.set(`${statement.sql} ${tablesReadWhole(plan)} ${indexesIn(plan)}`, statement);
  }
}, preparedWithinMs);
afterAll(async () => {
  await owner?.end();
  await stack?.stop();
});

async function buildCast(): Promise<Cast> {
  const partner = await buildPartner(stack, { limits: generous, webhook: { url: 'http://127.0.0.1:9/hook' } });
  await fund(stack, partner.account.available, '100000000');
  const categoryId = newId();
  await owner.query("insert into document_categories (id, name) values ($1, 'Grown')", [categoryId]);
  const { rows: received } = await owner.query<{ id: string }>(receivedTransaction);
  return {
    platform: await buildSuperAdmin(stack),
    admin: await buildOrganizationAdmin(stack),
    person: await buildIndividual(stack, { balance: '10000000' }),
    partner,
    causeId: (await buildActiveCause(stack)).id,
    categoryId,
    transactionId: received[0]?.id ?? '',
  };
}

/**
 * Makes the database log the plan of every statement on new connections; `nested` includes those inside functions.
 */
async function explainWhatRuns({ nested }: { nested: boolean }): Promise<void> {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_nested_statements': nested ? 'on' : 'off',
    'auto_explain.log_format': 'json',
  };
  for (const [setting, value] of Object.entries(settings)) {
    await owner.query(
      `do $$ begin execute format('alter database %I set ${setting} = ''${value}''', current_database()); end $$`,
    );
  }
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
  // Existing connections fail at their next statement.
  await eventually(
    () => Promise.allSettled(Array.from({ length: 20 }, () => stack.em().execute('select 1'))),
    (answers) => answers.every(({ status }) => status === 'fulfilled'),
  );
}

/** Removes the values, which the ORM writes into most statements. */
const withoutValues = (sql: string): string => sql.replaceAll(/'(?:[^']|'')*'/g, '?');

async function findMonths(): Promise<void> {
  const { rows: full } = await owner.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'months'::regnamespace and relkind = 'r' and reltuples >= $1`,
    [rows / 20],
  );
  for (const { name } of full) fullMonths.add(name);
  const { rows: indexes } = await owner.query<{ name: string; of: string }>(
    `select c.relname as name, p.relname as of from pg_inherits i join pg_class c on c.oid = i.inhrelid
     join pg_class p on p.oid = i.inhparent where p.relkind = 'I'`,
  );
  for (const { name, of } of indexes) indexOfMonth.set(name, of);
}

const usedIn = (plan: PlanNode): string[] => indexesIn(plan).map((name) => indexOfMonth.get(name) ?? name);

/** Returns the big tables that the statement scans and should not. */
function forbiddenScans(sql: string, plan: PlanNode): string[] {
  const exempted = exemptions.filter(([statement]) => statement.test(sql)).map(([, tables]) => tables);
  const read = tablesReadWhole(plan).filter((name) => tableOf(name) === name || fullMonths.has(name));
  return [...new Set(read.map(tableOf))].filter(
    (table) => big.has(table) && !exempted.some((tables) => tables === 'any' || tables.includes(table)),
  );
}

/** Plans a statement of the code without its parameters; returns null if it cannot be planned alone. */
async function planAlone(sql: string): Promise<PlanNode | null> {
  // Several statements in one message: the first would be planned, and the others would run.
  if (/;\s*\S/.test(sql)) return null;
  let parameters = 0;
  const numbered = sql.replaceAll('?', () => {
    parameters += 1;
    return `$${parameters}`;
  });
  type Explained = { 'QUERY PLAN': [{ Plan: PlanNode }] };
  const answer = await owner.query<Explained>(`explain (generic_plan, format json) ${numbered}`).catch(() => null);
  return answer?.rows[0]?.['QUERY PLAN'][0].Plan ?? null;
}

describe(`Over ${rows} rows in each big table`, () => {
  it('No executed statement scans a big table', () => {
    const found = [...ran.values()].flatMap(({ sql, plan }) =>
      forbiddenScans(sql, plan).map((table) => `${table}: ${sql}`),
    );
    expect([...new Set(found)]).toEqual([]);
    expect(plansRead).toBeGreaterThan(5_000);
  });

  it('Every statement in the code is planned, and none scans a big table', async () => {
    const texts = [...new Set([...ran.values()].map(({ sql }) => sql))];
    const wasRun = (sql: string) => {
      const pieces = piecesOf(withoutValues(sql));
      return texts.some((text) => pieces.every((piece) => text.includes(piece)));
    };
    const outcomes = { alone: 0, run: 0, exempt: 0 };
    const problems: string[] = [];
    for (const { file, sql, hasHoles } of findProductStatements()) {
      const plan = hasHoles ? null : await planAlone(sql);
      if (plan !== null) {
        outcomes.alone += 1;
        problems.push(...forbiddenScans(withoutValues(sql), plan).map((table) => `${file}: ${table}: ${sql}`));
      } else if (wasRun(sql)) {
        outcomes.run += 1;
      } else if (unplanned.some(([where, statement]) => where === file && statement.test(sql))) {
        outcomes.exempt += 1;
      } else {
        problems.push(`${file}: neither run nor planned: ${sql}`);
      }
    }
    process.stdout.write(
      `Plans read: ${plansRead} of statements that ran (${texts.length} different), ${outcomes.alone} of statements in ` +
        `the code; ${outcomes.run} of those only as they ran, ${outcomes.exempt} exempt.\n`,
    );
    expect(problems).toEqual([]);
  });

  it('Every index is used by a statement or has a stated purpose', async () => {
    const used = new Set([...ran.values()].flatMap(({ plan }) => usedIn(plan)));
    for (const { sql, hasHoles } of findProductStatements()) {
      const plan = hasHoles ? null : await planAlone(sql);
      for (const index of plan === null ? [] : usedIn(plan)) used.add(index);
    }
    const { rows: indexes } = await owner.query<{ name: string }>(
      `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
       join pg_class t on t.oid = i.indrelid
       where t.relnamespace = 'public'::regnamespace and not i.indisunique and t.relname = any($1) order by 1`,
      [[...big]],
    );
    expect(indexes.map(({ name }) => name).filter((name) => !used.has(name) && !(name in idleIndexes))).toEqual([]);
  });
});
