import pg from 'pg';
import { allowTime, refuseOtherTimeOuts } from '../../src/platform/database/database-time-outs.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { casesOf, itInFull } from '../support/full.ts';
import { startInVain } from '../support/refused-start.ts';

/** Tests that leave the role without time-outs come last. */
let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const { lock, statement, idle, transaction } = budgets.database.role;
const asNamed = {
  idle_in_transaction_session_timeout: idle,
  lock_timeout: lock,
  statement_timeout: statement,
  transaction_timeout: transaction,
};
const settings = `select name, setting::int as ms, source from pg_settings where name in
  ('${Object.keys(asNamed).join("','")}') order by name`;
type Setting = { name: string; ms: number; source: string };

/** Runs statements on a new connection; returns the time-outs last read. */
async function ask(...statements: string[]): Promise<Setting[]> {
  return askAs(database.url, ...statements);
}

async function askAs(connectionString: string, ...statements: string[]): Promise<Setting[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const one of statements.slice(0, -1)) await client.query(one);
    return (await client.query(statements.at(-1) ?? '')).rows;
  } finally {
    await client.end();
  }
}
const user = () => new URL(database.url).username;
const forget = () => {
  const name = new URL(database.url).pathname.slice(1);
  return askAs(database.ownerUrl, `alter role ${user()} in database ${name} reset all`, 'select 1');
};

const expected = Object.entries(asNamed).map(([name, ms]) => ({ name, ms, source: 'database user' }));

describe('Time-outs of the database', () => {
  it('Migrations set the database’s time-outs as defaults of the role, for any client', async () => {
    await forget();
    expect((await ask(settings)).map(({ ms }) => ms)).toEqual([0, 0, 0, 0]);
    await migrate(database.ownerUrl);
    expect(await ask(settings)).toEqual(expected);
  });

  it('Concurrent migrations, in one database or several, set the database’s time-outs', async () => {
    const others = await Promise.all(casesOf([cloneDatabase, cloneDatabase]).map((clone) => clone()));
    const urls = [database, database, ...others].map(({ ownerUrl }) => ownerUrl);
    expect(await Promise.all(urls.map((url) => migrate(url)))).toEqual(urls.map(() => []));
    expect(await ask(settings)).toEqual(expected);
    for (const { drop } of others) await drop();
  });

  it('One transaction can have longer database time-outs, and later ones do not keep them', async () => {
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    const em = orm.em.fork();
    const longer = { lock: 5000, statement: 7500, idle: 9000, transaction: 9500 };
    await em.transactional(async (tx) => {
      await allowTime(tx, longer);
      expect((await tx.execute<Setting[]>(settings)).map(({ ms }) => ms)).toEqual([9000, 5000, 7500, 9500]);
    });
    expect(await em.execute(settings)).toEqual(expected);
  });

  it('A transaction is terminated by the time-out set within it, not by the role’s default', async () => {
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    const em = orm.em.fork();
    const shorter = { lock: 100, statement: 2000, idle: 2000, transaction: 1000 };
    const slow = em.transactional(async (tx) => {
      await allowTime(tx, shorter);
      await tx.execute('select pg_sleep(1.5)');
    });
    await expect(slow).rejects.toMatchObject({ code: '25P04' });
    expect(await em.execute<{ one: number }[]>('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('The database’s time-outs are not connection parameters, which a pooler would drop', async () => {
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    expect(await orm.em.fork().execute(settings)).toEqual(expected);
    await forget();
    await using later = await openDatabase({ url: database.url, poolSize: 1 });
    const sources = (await later.em.fork().execute<Setting[]>(settings)).map(({ source }) => source);
    expect(sources.filter((source) => source === 'client' || source === 'session')).toEqual([]);
  });
});

describe('A role without time-outs', () => {
  it('A process on a role without time-outs names the missing ones and the remedy', async () => {
    await forget();
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    await expect(refuseOtherTimeOuts(orm.em.fork())).rejects.toThrow(
      new RegExp(`${user()}.*lock_timeout is 0 instead of ${lock} ms.*transaction_timeout is 0.*npm run migrate`),
    );
  });

  itInFull.each(['api', 'worker'])(
    'A process on a role without time-outs exits at once and names them: %s',
    async (name) => {
      await forget();
      const { said, code } = await startInVain(name, database.url);
      expect(said).toMatch(/lock_timeout is 0 .*npm run migrate/);
      expect(code).toBe(1);
    },
    60_000,
  );
});
