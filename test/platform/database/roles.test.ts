import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { applicationRole, readerRole } from '../../../src/platform/database/database-roles.ts';
import { refuseMightyRole } from '../../../src/platform/database/refuse-mighty-role.ts';
import { migrate } from '../../../src/wiring/commands/migrate.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { cloneDatabase, createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { createSecrets, testEnvironment } from '../../support/environment.ts';
import { casesOf } from '../../support/full.ts';
import { blocksOf } from '../../support/operators-documents.ts';
import { testRun } from '../../support/run.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

async function ask<Row extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const one of statements.slice(0, -1)) await client.query(one);
    return (await client.query<Row>(statements.at(-1) ?? '')).rows;
  } finally {
    await client.end();
  }
}

describe('Functions of the schema', () => {
  it('Every function’s search path has temporary tables last', async () => {
    const open = await ask(
      database.ownerUrl,
      // A body that was parsed at creation resolves no names.
      `select oid::regprocedure::text as name, proconfig from pg_proc where pronamespace = 'public'::regnamespace
       and prosqlbody is null and not coalesce('search_path=pg_catalog, public, pg_temp' = any (proconfig), false)`,
    );
    expect(open).toEqual([]);
  });

  it('Only named roles can call functions, including those created later', async () => {
    const rows = await ask(
      database.ownerUrl,
      `select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace
       and has_function_privilege('public', oid, 'EXECUTE')`,
    );
    expect(rows).toEqual([]);
    const later = await ask(
      database.ownerUrl,
      "create function later() returns int language sql as 'select 1'",
      `select has_function_privilege('${applicationRole}', 'later()', 'EXECUTE') as app,
         has_function_privilege('${readerRole}', 'later()', 'EXECUTE') as reader`,
    );
    expect(later).toEqual([{ app: false, reader: false }]);
    await ask(database.ownerUrl, 'drop function later()');
  });

  it('Every function with the owner’s rights or with dynamic SQL is on a reviewed list', async () => {
    const rows = await ask<{ name: string }>(
      database.ownerUrl,
      "select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by 1",
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'answer_payout_attempt',
      'apply_receipt',
      'book_external',
      'book_own_transfer',
      'book_transfer',
      'change_tally',
      'close_day',
      'close_payout_attempt',
      'count_changed_donations',
      'count_new_donations',
      'find_month_problems',
      'forget_person',
      'forget_rows',
      'hold_balances',
      'keep_decision',
      'keep_permission_names',
      'lock_refund',
      'lock_source',
      'make_coming_month',
      'note_lapse',
      'open_balance',
      'open_payout_attempt',
      'pay_from_balances',
      'post_journal',
      'record_transactions',
      'settle_receipt',
      'suspend_receipt',
      'tally_payout',
      'unbook_transfer',
      'write_seal',
    ]);
    const dynamic = await ask<{ name: string }>(
      database.ownerUrl,
      String.raw`select proname as name from pg_proc where pronamespace = 'public'::regnamespace
         and prosrc ~* '\mexecute\M'`,
    );
    // Their text contains the names of partitioned tables, from the catalogue, and of months: nothing that a caller
    // supplies.
    expect(dynamic.map(({ name }) => name).toSorted()).toEqual(['find_month_problems', 'make_month']);
  });
});

describe('The application’s role', () => {
  it('The application may update every encrypted column, to re-encrypt it', async () => {
    const rows = await ask(
      database.ownerUrl,
      `select c.relname || '.' || a.attname as place from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname like '%\\_sealed'
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
         and not has_column_privilege('${applicationRole}', c.oid, a.attnum, 'UPDATE')`,
    );
    expect(rows).toEqual([]);
  });
});

describe('The reader’s role', () => {
  it('The reader may read every column except encrypted and hashed ones, digests and stored responses', async () => {
    const rows = await ask<{ place: string; secret: boolean; readable: boolean }>(
      database.ownerUrl,
      `select c.relname || '.' || a.attname as place,
         a.attname ~ '(_sealed|_hash|_digest)$' or a.attname in ('answer_body', 'fingerprint') as secret,
         has_column_privilege('${readerRole}', c.oid, a.attnum, 'SELECT') as readable
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')`,
    );
    expect(rows.filter(({ secret, readable }) => secret === readable)).toEqual([]);
    expect(rows.filter(({ secret }) => secret).length).toBeGreaterThan(15);
  });

  it('The reader may read every check and the backlog', async () => {
    await using orm = await openDatabase({ url: database.readerUrl, poolSize: 1 });
    const checks = await runChecks(orm.em.fork());
    expect(checks.length).toBeGreaterThan(30);
    expect((await readBacklog(orm.em.fork())).length).toBeGreaterThan(5);
  });

  it.each(casesOf([applicationRole, readerRole]))(
    'The role %s can read every check with another search path',
    async (role) => {
      const url = role === readerRole ? database.readerUrl : database.url;
      const setting = `alter role ${role} in database ${new URL(url).pathname.slice(1)}`;
      await ask(url, `${setting} set search_path = pg_catalog, public`);
      try {
        await using orm = await openDatabase({ url, poolSize: 1 });
        expect((await runChecks(orm.em.fork())).length).toBeGreaterThan(30);
      } finally {
        await ask(url, `${setting} reset search_path`);
      }
    },
  );
});

describe('An unreadable row', () => {
  it('An unreadable row counts as a violation of its check, and hides no other check', async () => {
    await ask(database.ownerUrl, 'create view check_a_row as select 1 / n as share from (values (0)) v (n)');
    await using orm = await openDatabase({ url: database.ownerUrl, poolSize: 1 });
    const checks = await runChecks(orm.em.fork());
    await ask(database.ownerUrl, 'drop view check_a_row');
    expect(checks.length).toBeGreaterThan(30);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([
      {
        check: 'check_a_row',
        violations: 1,
        sample: [{ cannot_be_read: expect.stringContaining('division by zero') }],
      },
    ]);
  });

  it('An unreadable row counts as the oldest of its backlog, and hides no other pending work', async () => {
    await ask(
      database.ownerUrl,
      "set session_replication_role = 'replica'",
      `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity,
         amount, visibility, round_interval, turn_order, start_date, starts_at)
       select uuidv7(), 'c', a, a, 'individual', a, a, 2, 5, 'public', 'daily', 'joining', 'x', now() - interval '1 hour'
       from uuidv7() a`,
    );
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    const backlog = await readBacklog(orm.em.fork());
    await ask(database.ownerUrl, "set session_replication_role = 'replica'", 'delete from saving_circles');
    expect(backlog.length).toBeGreaterThan(15);
    expect(backlog.filter(({ rows }) => rows > 0)).toEqual([{ what: 'overdue_circles', rows: 1, oldest: new Date(0) }]);
  });
});

/** The read-only statements of the runbook, with every placeholder filled in. */
const runbookQueries = blocksOf('sql')
  .flatMap((text) => text.replaceAll(/--.*$/gm, '').split(';'))
  .map((statement) => statement.trim().replaceAll(/<[^>]+>/g, '00000000-0000-4000-8000-000000000001'))
  .filter((statement) => statement.startsWith('select '));

describe('Queries in the runbook', () => {
  it('The runbook has queries', () => expect(runbookQueries.length).toBeGreaterThan(15));

  it.each(runbookQueries)('The reader may run the runbook’s query: %s', async (query) => {
    await expect(ask(database.readerUrl, query)).resolves.toBeDefined();
  });
});

describe('Processes in production', () => {
  let name: string;
  beforeAll(() => {
    name = new URL(database.ownerUrl).pathname.slice(1);
  });
  // One database for all of them: each undoes its changes, and the next would report leftovers.
  afterAll(() => expect(judge(database.url)).resolves.toBeUndefined());
  const undoing = (statement: string): string =>
    statement
      .replace(/^grant (.+) to (\w+)$/, 'revoke $1 from $2')
      .replace(/ set (\w+) = .*$/, ' reset $1')
      .replace(/^create table (\w+) .*$/, 'drop table $1');

  const judge = async (url: string) => {
    await using orm = await openDatabase({ url, poolSize: 1 });
    await refuseMightyRole(orm.em.fork());
  };

  it('A process in production runs as the application’s role', async () => {
    await expect(judge(database.url)).resolves.toBeUndefined();
  });

  it('A process in production never runs as the owner, and names everything wrong with that role', async () => {
    await expect(judge(database.ownerUrl)).rejects.toThrow(
      /superuser.*owns tables.*may write .*journals.*postings.*may create tables.*temporary tables.*npm run migrate/s,
    );
  });

  it.each([
    ['that may write postings', 'grant insert on postings to amanah_app', /may write postings directly/],
    ['that may write one column of postings', 'grant update (amount) on postings to amanah_app', /may write postings/],
    [
      'that may call the function that writes postings',
      'grant execute on function write_journal to amanah_app',
      /may call write_journal, which write unchecked rows/,
    ],
    [
      'that may call the function that checks decisions',
      'grant execute on function approved_decision to amanah_app',
      /may call approved_decision, which write unchecked rows/,
    ],
    ['that may add seals', 'grant insert on seals to amanah_app', /may write seals directly/],
    ['that may change totals', 'grant update on cause_totals to amanah_app', /may write cause_totals directly/],
    ['that may change receipts', 'grant update on receipts to amanah_app', /may write receipts directly/],
    ['that may delete from the audit trail', 'grant delete on events to amanah_app', /may change events/],
    ['that may delete balances', 'grant delete on account_balances to amanah_app', /may write account_balances/],
    ['that may create tables', 'grant create on schema public to amanah_app', /may create tables/],
    ['that reaches partitions', 'grant usage on schema months to amanah_app', /access to the partitions/],
    [
      'that has settings of its own',
      `alter role amanah_app in database {} set default_transaction_isolation = 'repeatable read'`,
      /settings of its own \(default_transaction_isolation\)/,
    ],
    ['that owns a table', 'create table mine (n int); alter table mine owner to amanah_app', /owns tables \(mine\)/],
  ])('A process in production never runs as a role %s', async (_, grant, sentence) => {
    const statement = grant.replace('{}', name);
    await ask(database.ownerUrl, statement);
    try {
      await expect(judge(database.url)).rejects.toThrow(sentence);
    } finally {
      await ask(database.ownerUrl, undoing(statement));
    }
  });

  /** Checks a member of the application's role that also belongs to another role, after these statements. */
  async function expectRefused(statementsFor: (database: string) => string[], sentence: RegExp): Promise<void> {
    const [mighty, member] = [`mighty_${name}`, `member_${name}`];
    await ask(database.ownerUrl, `create role ${mighty}`, `create role ${member} login password 'p'`);
    try {
      await ask(
        database.ownerUrl,
        `grant ${applicationRole}, ${mighty} to ${member}`,
        `grant connect on database ${name} to ${member}`,
        ...statementsFor(name),
      );
      const url = Object.assign(new URL(database.url), { username: member, password: 'p' }).href;
      await expect(judge(url)).rejects.toThrow(sentence);
    } finally {
      await ask(database.ownerUrl, `drop owned by ${mighty}, ${member}`, `drop role ${member}, ${mighty}`);
    }
  }

  it.each([
    ['may write postings', (mighty: string) => `grant insert on postings to ${mighty}`, /may write postings/],
    [
      'may call the function that writes postings',
      (mighty: string) => `grant execute on function write_journal to ${mighty}`,
      /may call write_journal, which write unchecked rows/,
    ],
    [
      'may disable triggers',
      (mighty: string) => `grant set on parameter session_replication_role to ${mighty}`,
      /may set session_replication_role/,
    ],
  ])(
    'A process in production never runs as a member of a role that %s, even without inheriting it',
    (_, grant, sentence) =>
      expectRefused(
        (name) => [`grant mighty_${name} to member_${name} with inherit false, set true`, grant(`mighty_${name}`)],
        sentence,
      ),
  );

  it.each([
    ['is a superuser', 'superuser', /it may become a superuser/],
    ['may create roles', 'createrole', /it may create roles/],
    ['copies the whole cluster', 'replication', /it may copy the whole cluster/],
  ])('A process in production never runs as a member of a role that %s', (_, right, sentence) =>
    expectRefused((name) => [`alter role mighty_${name} ${right}`], sentence),
  );

  // A role can assume a membership that it does not inherit at any time.
  it('A process in production never runs as a role that may become one with write access to everything', () =>
    expectRefused(
      (name) => [`grant pg_write_all_data to member_${name} with inherit false`],
      /may become pg_write_all_data/,
    ));

  it.each(casesOf(['api', 'worker']))(
    'A process exits at once on a role that could rewrite the books, whatever its time-outs: %s',
    async (name) => {
      // Missing time-outs would suggest migrating, which does not fix such a role.
      const other = await cloneDatabase();
      const { username, pathname } = new URL(other.ownerUrl);
      await ask(other.ownerUrl, `alter role ${username} in database ${pathname.slice(1)} reset all`);
      const addresses = {
        databaseUrl: other.ownerUrl,
        temporalAddress: testRun().temporal.address,
        url: 'http://127.0.0.1:0',
        sandboxUrl: 'https://127.0.0.1:1',
      };
      const { WEBHOOK_ALLOW_LOOPBACK: _, ...usual } = testEnvironment(addresses, createSecrets());
      const { stderr, status } = spawnSync(process.execPath, [join(import.meta.dirname, `../../../src/${name}.ts`)], {
        env: { ...usual, NODE_ENV: 'production', TRUST_PROXY: 'false', PORT: '0', LOG_LEVEL: 'silent' },
        encoding: 'utf8',
      });
      await other.drop();
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr).toContain('it is a superuser');
      expect(stderr).not.toContain('time-outs');
      expect(status).toBe(1);
    },
    60_000,
  );
});

describe('npm run migrate', () => {
  it('npm run migrate refuses the application’s role and says what to set', async () => {
    await expect(migrate(database.url)).rejects.toThrow(/amanah_app may not create tables.*MIGRATION_DATABASE_URL/);
  });

  it('npm run migrate needs no superuser, and prints the statements that an administrator must run', async () => {
    const empty = await createEmptyDatabase();
    const name = new URL(empty.ownerUrl).pathname.slice(1);
    const owner = `owner_of_${name}`;
    await ask(empty.ownerUrl, `create role ${owner} login password 'p'`, `alter database ${name} owner to ${owner}`);
    const url = Object.assign(new URL(empty.ownerUrl), { username: owner, password: 'p' }).href;
    try {
      const refusal = await migrate(url).then(
        () => '',
        (error: Error) => error.message,
      );
      expect(refusal).toMatch(/^Nothing was migrated.*Ask a database administrator to run: revoke all on database/);
      const [, statements = ''] = /administrator to run: (.*); Then run/.exec(refusal) ?? [];
      await ask(empty.ownerUrl, ...statements.split('; '));
      expect((await migrate(url)).length).toBeGreaterThan(0);
      expect(await ask(empty.url, 'select count(*)::int as n from journals')).toEqual([{ n: 0 }]);
    } finally {
      await empty.drop();
      const admin = Object.assign(new URL(database.ownerUrl), { pathname: '/postgres' }).href;
      await ask(admin, `drop role ${owner}`);
    }
  });
});
