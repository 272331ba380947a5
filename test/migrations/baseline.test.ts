import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrations } from '../../src/migrations/index.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { cloneDatabase, createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { createSecrets, testEnvironment } from '../support/environment.ts';
import { itInFull } from '../support/full.ts';

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

describe('The baseline', () => {
  const directory = join(import.meta.dirname, '../../src/migrations/baseline');
  const files = readdirSync(directory).filter((name) => name.endsWith('.sql'));

  it.each(files)('Each function and view in %s has a comment directly above', (file) => {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n');
    const silent = lines.filter(
      (line, index) => /^create (function|view) /.test(line) && !/^--|\*\/$/.test(lines[index - 1]?.trim() ?? ''),
    );
    expect(silent).toEqual([]);
  });

  it('The baseline leaves no trigger disabled and no constraint or index invalid', async () => {
    const url = await keep(cloneDatabase());
    const undone = await ask(
      url,
      `select tgname as name from pg_trigger where tgenabled <> 'O' and not tgisinternal
       union all select conname from pg_constraint where not convalidated or not conenforced
       union all select indexrelid::regclass::text from pg_index where not indisvalid`,
    );
    expect(undone).toEqual([]);
  });
});

describe('Databases from another baseline', () => {
  const refusal =
    /^The database \S+ was created by a version before 1\.0\.0 and cannot be upgraded: use a new, empty database\.$/;

  async function makeAnother(): Promise<string> {
    const url = await keep(cloneDatabase());
    await ask(url, "comment on schema public is 'baseline of another day'");
    return url;
  }

  it('A database from another baseline is refused with advice and not changed', async () => {
    const url = await makeAnother();
    const remember = () => ask(url, 'select id, name, executed_at from schema_migrations');
    const before = await remember();
    await expect(migrate(url)).rejects.toThrow(refusal);
    expect(await remember()).toEqual(before);
  });

  it('A database with migrations but no baseline is refused', async () => {
    const url = await keep(createEmptyDatabase());
    await ask(
      url,
      `create table schema_migrations (id serial primary key, name varchar(255), executed_at timestamptz default now());
       insert into schema_migrations (name) values ('m0001-identity')`,
    );
    await expect(migrate(url)).rejects.toThrow(refusal);
    expect(await ask(url, "select to_regclass('journals') as journals")).toEqual([{ journals: null }]);
  });

  itInFull('npm run migrate refuses a database from another baseline with one sentence', async () => {
    const addresses = {
      databaseUrl: await makeAnother(),
      temporalAddress: '127.0.0.1:1',
      url: 'http://127.0.0.1:0',
      sandboxUrl: 'http://127.0.0.1:1',
    };
    const script = join(import.meta.dirname, '../../src/wiring/commands/migrate.ts');
    const { status, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      env: testEnvironment(addresses, createSecrets()),
    });
    expect(stderr.trim()).toMatch(refusal);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(1);
  });

  itInFull('Migrations accept an empty database and one from this baseline', async () => {
    expect(await migrate(await keep(cloneDatabase()))).toEqual([]);
    expect(await migrate(await keep(createEmptyDatabase()))).toEqual(migrations.map(({ name }) => name));
  });
});
