import { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { baseline, migrations } from '../../src/migrations/index.ts';
import type { NamedMigration } from '../../src/platform/database/database.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { newId } from '../../src/shared/ids.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { growDatabase } from '../platform/database/grow-database.ts';
import { cloneDatabase, createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { itInFull } from '../support/full.ts';
import { isFullRun } from '../support/run.ts';
import { watchMigrations } from './watch-migrations.ts';

const databases: TestDatabase[] = [];
const clients: pg.Client[] = [];

afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));
afterAll(() => Promise.all(databases.map(({ drop }) => drop())));

/** No time-outs for transactions. */
const unhurried = '-c transaction_timeout=0 -c idle_in_transaction_session_timeout=0';

async function connect(url: string, options = unhurried): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options });
  await client.connect();
  clients.push(client);
  return client;
}

/** Creates a copy of a database, the migrated one by default, that refuses migrations that block others. */
async function take(template?: TestDatabase): Promise<{ url: string; appUrl: string; client: pg.Client }> {
  const database = await cloneDatabase(template && new URL(template.ownerUrl).pathname.slice(1));
  databases.push(database);
  const client = await connect(database.ownerUrl);
  await client.query(watchMigrations);
  return { url: database.ownerUrl, appUrl: database.url, client };
}

/**
 * Locks every table again and again, as transactions that write do, with the time-outs of API and worker. Returns a
 * function that stops it and returns the number of transactions, or throws if one had to wait too long.
 */
async function writeEverywhere(url: string): Promise<() => Promise<number>> {
  const writer = await connect(url, `-c lock_timeout=${budgets.database.role.lock}`);
  const { rows } = await writer.query<{ tables: string }>(
    `select string_agg(quote_ident(tablename), ', ') as tables from pg_tables
     where schemaname = 'public' and tablename <> 'schema_migrations'`,
  );
  let [written, isStopped] = [0, false];
  const writing = (async () => {
    for (; !isStopped; written += 1) {
      await writer.query(`begin; lock table ${rows[0]?.tables} in row exclusive mode; select pg_sleep(0.1); commit`);
    }
  })();
  // The returned function throws it.
  writing.catch(() => undefined);
  return async () => {
    isStopped = true;
    await writing;
    return written;
  };
}

let samples = 0;

/** Builds a migration that follows the baseline. */
function sample(statements: string[], { concurrently = false } = {}): NamedMigration {
  samples += 1;
  return {
    name: `m9999-sample-${samples}`,
    class: class extends Migration {
      override up(): void {
        for (const statement of statements) this.addSql(statement);
      }
      override isTransactional(): boolean {
        return !concurrently;
      }
    },
  };
}

/** Builds a migration that creates an index concurrently, or recreates an interrupted one. */
const indexed = (name: string, on: string): NamedMigration =>
  sample(
    ['set lock_timeout = 0', `drop index concurrently if exists ${name}`, `create index concurrently ${name} on ${on}`],
    { concurrently: true },
  );

const made = async (client: pg.Client): Promise<string[]> =>
  (await client.query<{ name: string }>('select name from schema_migrations order by id')).rows.map(({ name }) => name);
const invalidIndexes = async (client: pg.Client): Promise<unknown[]> =>
  (await client.query('select indexrelid::regclass::text as name from pg_index where not indisvalid')).rows;

describe('Migrations of a database with rows', () => {
  let grown: Promise<TestDatabase> | undefined;
  /** Creates a database from the baseline, with rows in every growing table. */
  async function grow(): Promise<TestDatabase> {
    const database = await createEmptyDatabase();
    databases.push(database);
    await migrate(database.ownerUrl, {}, { list: [baseline] });
    // The partner and the user have requests under the same keys, so their ids must differ.
    const [nobody, partnerId] = [newId(), newId()];
    await growDatabase(database.ownerUrl, 1_000, {
      userId: nobody,
      accountId: nobody,
      organizationId: nobody,
      partnerId,
      causeId: nobody,
      categoryId: nobody,
    });
    return database;
  }
  const copy = async () => {
    grown ??= grow();
    return take(await grown);
  };

  it('Every migration after the baseline is applied while others write to every table, and leaves no invalid index', async () => {
    const { url, client } = await copy();
    const load = [await writeEverywhere(url), await writeEverywhere(url)];
    expect(await migrate(url)).toEqual(migrations.slice(1).map(({ name }) => name));
    for (const stop of load) expect(await stop()).toBeGreaterThan(1);
    expect(await invalidIndexes(client)).toEqual([]);
  }, 60_000);

  itInFull(
    'A column, a concurrently built index and a check validated later can be added to a table with rows',
    async () => {
      const { url, client } = await copy();
      const list = [
        baseline,
        sample(['alter table postings add column note text', 'create table notes (id uuid primary key)']),
        indexed('postings_by_note', 'postings (note) where note is not null'),
        sample(["alter table postings add constraint postings_note_check check (note <> '') not valid"]),
        sample(['alter table postings validate constraint postings_note_check']),
      ];
      expect(await migrate(url, {}, { list })).toEqual(list.slice(1).map(({ name }) => name));
      expect(await migrate(url, {}, { list })).toEqual([]);
      expect(await made(client)).toEqual(list.map(({ name }) => name));
      expect(await invalidIndexes(client)).toEqual([]);
    },
    60_000,
  );

  const refused: [what: string, statements: string[], message: string][] = [
    [
      'waits for a lock without a time-out',
      ['set local lock_timeout = 0', 'alter table postings add column note text'],
      'ALTER TABLE blocks others that use postings',
    ],
    [
      'blocks writes while it builds an index',
      ['create index postings_by_amount on postings (amount)'],
      'CREATE INDEX blocks others that use postings',
    ],
    [
      'succeeds only without rows',
      ['alter table postings add column note text not null'],
      'column "note" of relation "postings" contains null values',
    ],
    [
      'may wait long for a lock',
      ["set local lock_timeout = '1min'", 'alter table journals add column note text'],
      'ALTER TABLE blocks others that use journals',
    ],
  ];
  itInFull.each(refused)('A migration that %s fails and changes nothing', async (_, statements, message) => {
    const { url, client } = await copy();
    const list = [baseline, sample(['create table notes (id uuid primary key)', ...statements])];
    await expect(migrate(url, {}, { list })).rejects.toThrow(message);
    expect(await made(client)).toEqual([baseline.name]);
    expect((await client.query("select to_regclass('notes') as notes")).rows).toEqual([{ notes: null }]);
  });
});

describe('Migrations that wait for a lock', () => {
  const addsColumn = () => [...migrations, sample(['alter table postings add column note text'])];

  it('A migration that waits for a lock yields to queued sessions, and is applied once the lock is free', async () => {
    const { url, appUrl, client: holder } = await take();
    const [watcher, worker] = [await connect(url), await connect(appUrl, '')];
    await holder.query('begin');
    await holder.query('lock table postings in access share mode');
    const told: string[] = [];
    const list = addsColumn();
    const migrating = migrate(url, {}, { list, tell: (sentence) => told.push(sentence) });
    const isWaiting = () =>
      eventually(
        async () =>
          (
            await watcher.query(
              `select 1 from pg_locks l join pg_database d on d.oid = l.database
               where not l.granted and l.mode = 'AccessExclusiveLock' and d.datname = current_database()`,
            )
          ).rows,
        (rows) => rows.length > 0,
      );
    // Sessions queue behind the migration, with the time-outs of API and worker.
    for (let round = 0; round < (isFullRun() ? 2 : 1); round += 1) {
      await isWaiting();
      await worker.query("insert into events (event, impact, resource_type) values ('SEEN', 'LOW', 'test')");
      expect((await worker.query('select count(*) from postings')).rows).toHaveLength(1);
    }
    await holder.query('commit');
    expect(await migrating).toEqual([list.at(-1)?.name]);
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(told[0]).toMatch(/^m9999-sample-\d+ did not get a lock; it is retried in 5 s\.$/);
  }, 60_000);

  it('A migration that never gets its lock fails after its time-out and changes nothing', async () => {
    const { url, client: holder } = await take();
    await holder.query('begin; lock table postings in access share mode');
    await expect(migrate(url, {}, { list: addsColumn(), givesWayMs: 0 })).rejects.toMatchObject({ code: '55P03' });
    await holder.query('rollback');
    expect(await made(holder)).toEqual(migrations.map(({ name }) => name));
  }, 60_000);

  it('Two concurrent runs apply a migration once, even if its index waits for running transactions', async () => {
    const { url, client } = await take();
    const atWork = await connect(url);
    await atWork.query('begin; lock table postings in row exclusive mode');
    const list = [...migrations, indexed('postings_by_amount', 'postings (amount)')];
    const migrating = [migrate(url, {}, { list })];
    const untilThere = (condition: string) =>
      eventually(
        async () =>
          (await client.query(`select 1 from pg_stat_activity where datname = current_database() and ${condition}`))
            .rows,
        (rows) => rows.length > 0,
      );
    await untilThere("wait_event = 'virtualxid'");
    migrating.push(migrate(url, {}, { list }));
    await untilThere("query like '%pg_try_advisory_lock%' and state = 'idle'");
    await atWork.query('commit');
    expect((await Promise.all(migrating)).flat()).toEqual([list.at(-1)?.name]);
    expect(await invalidIndexes(client)).toEqual([]);
  }, 60_000);

  itInFull(
    'A migration interrupted during an index build rebuilds the index',
    async () => {
      const { url, client } = await take();
      const atWork = await connect(url);
      await atWork.query('begin isolation level repeatable read; select 1 from postings limit 1');
      await client.query("set lock_timeout = '100ms'");
      const index = 'postings_by_amount on postings (amount)';
      await expect(client.query(`create index concurrently ${index}`)).rejects.toMatchObject({ code: '55P03' });
      await atWork.query('commit');
      expect(await invalidIndexes(client)).toHaveLength(1);
      const list = [...migrations, indexed('postings_by_amount', 'postings (amount)')];
      expect(await migrate(url, {}, { list })).toEqual([list.at(-1)?.name]);
      expect(await invalidIndexes(client)).toEqual([]);
    },
    60_000,
  );
});
