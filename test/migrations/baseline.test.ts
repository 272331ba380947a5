import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describeSchema, schemaFile } from '../../dev/describe-schema.ts';
import { migrate } from '../../src/migrate.ts';
import { migrations } from '../../src/migrations/index.ts';
import { cloneDatabase, createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { createSecrets, testEnvironment } from '../support/environment.ts';

const databases: TestDatabase[] = [];
afterAll(() => Promise.all(databases.map(({ drop }) => drop())));

async function keep(making: Promise<TestDatabase>): Promise<string> {
  const database = await making;
  databases.push(database);
  return database.ownerUrl;
}

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('schema.sql', () => {
  it('is what the migrations make', async () => {
    const made = await describeSchema(await keep(cloneDatabase()));
    const written = readFileSync(schemaFile, 'utf8');
    if (made === written) return;
    const lines = new Set(written.split('\n'));
    const first = made.split('\n').find((line) => !lines.has(line));
    throw new Error(
      `schema.sql is not what the migrations make${first === undefined ? '' : ` (it lacks: ${first.trim()})`}: ` +
        'run "npm run schema:write" and commit what changed.',
    );
  });

  it('leaves out nothing that is needed to build the schema again', async () => {
    const url = await keep(createEmptyDatabase());
    const written = readFileSync(schemaFile, 'utf8');
    await ask(url, written);
    expect(await describeSchema(url)).toBe(written);
  });

  it.each([
    ['a column', 'alter table events add column severity text', 'severity text'],
    ['a default', "alter table events alter column impact set default 'LOW'", "default 'LOW'::text"],
    ['an index', 'create index events_by_impact on events (impact)', 'events_by_impact'],
    ['a trigger', 'alter table journals disable trigger journals_are_final', 'disable trigger journals_are_final'],
    ['a grant', 'grant select on events to pg_monitor', 'grant select on table events to pg_monitor;'],
    [
      'a grant of a column',
      'grant update (impact) on events to pg_monitor',
      'grant update (impact) on table events to pg_monitor;',
    ],
    [
      'a right that a new function does not give to everybody',
      "create function answer() returns integer language sql as 'select 42'",
      'revoke execute on function answer() from public;',
    ],
    [
      'default privileges',
      'alter default privileges revoke usage on types from public',
      'alter default privileges revoke usage on types from public;',
    ],
    [
      'a comment',
      "comment on column events.impact is 'How bad'",
      "comment on column public.events.impact is 'How bad';",
    ],
    ['an option of a view', 'alter view check_journals_balance set (security_invoker)', '(security_invoker=true)'],
  ])('includes %s', async (_, change, expected) => {
    const url = await keep(cloneDatabase());
    await ask(url, change);
    expect(readFileSync(schemaFile, 'utf8')).not.toContain(expected);
    expect(await describeSchema(url)).toContain(expected);
  });

  it('is not written while the schema has a kind of object that it does not know', async () => {
    const url = await keep(cloneDatabase());
    await ask(url, "create type mood as enum ('good', 'bad')");
    await expect(describeSchema(url)).rejects.toThrow('cannot tell of the type mood yet');
  });
});

describe('The baseline', () => {
  const directory = join(import.meta.dirname, '../../src/migrations/baseline');
  const files = readdirSync(directory).filter((name) => name.endsWith('.sql'));

  it.each(files)('says in %s what each function and view is for, right above it', (file) => {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n');
    const silent = lines.filter(
      (line, index) => /^create (function|view) /.test(line) && !/^--|\*\/$/.test(lines[index - 1]?.trim() ?? ''),
    );
    expect(silent).toEqual([]);
  });
});

describe('A database from before the baseline', () => {
  const refusal = /^The database \S+ is from before m0001-baseline \(it knows m0001-identity to m0024-budget-clock\), /;

  async function buildOldDatabase(): Promise<string> {
    const url = await keep(createEmptyDatabase());
    await ask(
      url,
      `create table schema_migrations (id serial primary key, name varchar(255), executed_at timestamptz default now());
       insert into schema_migrations (name) values ('m0001-identity'), ('m0002-ledger'), ('m0024-budget-clock');
       create table organizations (id uuid primary key);`,
    );
    return url;
  }

  it('is refused by name, with advice, and left as it is', async () => {
    const url = await buildOldDatabase();
    const refused = migrate(url);
    await expect(refused).rejects.toThrow(refusal);
    await expect(refused).rejects.toThrow(/take a new, empty database\.$/);
    expect(await ask(url, 'select count(*)::int as count from schema_migrations')).toEqual([{ count: 3 }]);
    expect(await ask(url, "select to_regclass('journals') as journals")).toEqual([{ journals: null }]);
  });

  it('is refused by name if it was made from another version of the baseline', async () => {
    const url = await keep(cloneDatabase());
    await expect(migrate(url)).resolves.toBeDefined();
    await ask(url, "comment on schema public is 'baseline of another day'");
    await expect(migrate(url)).rejects.toThrow(
      /^The database \S+ was made from another text of m0001-baseline .* take a new, empty database\.$/,
    );
  });

  it('is refused in one sentence by npm run migrate', async () => {
    const addresses = {
      databaseUrl: await buildOldDatabase(),
      temporalAddress: '127.0.0.1:1',
      url: 'http://127.0.0.1:0',
      sandboxUrl: 'http://127.0.0.1:1',
    };
    const script = join(import.meta.dirname, '../../src/migrate.ts');
    const { status, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      env: testEnvironment(addresses, createSecrets()),
    });
    expect(stderr).toMatch(refusal);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('is told apart from one with the baseline, and from an empty one', async () => {
    expect(await migrate(await keep(cloneDatabase()))).toEqual([]);
    expect(await migrate(await keep(createEmptyDatabase()))).toEqual(migrations.map(({ name }) => name));
  });
});
