import { baseline, migrations } from '../../src/migrations/index.ts';
import { refuseMissingMigrations } from '../../src/migrations/refuse-missing-migrations.ts';
import { refuseMightyRole } from '../../src/platform/database/refuse-mighty-role.ts';
import { migrate } from '../../src/wiring/commands/migrate.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { itInFull } from '../support/full.ts';
import { startInVain } from '../support/refused-start.ts';
import { withClient } from '../support/with-client.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

const asOwner = (sql: string) => withClient(database.ownerUrl, (client) => client.query(sql));
const names = migrations.map(({ name }) => name);
const last = names.at(-1);
const forgetLast = () => asOwner(`delete from schema_migrations where name = '${last}'`);

describe('The schema of an earlier release', () => {
  it('A process refuses a database that lacks a migration of its release', async () => {
    await forgetLast();
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    await expect(refuseMissingMigrations(orm.em.fork())).rejects.toThrow(
      new RegExp(`^The database \\S+ lacks migrations of this release \\(${last}\\): run "npm run migrate"\\.$`),
    );
  });

  itInFull.each(['api', 'worker'])('A process on the schema of an earlier release exits at once: %s', async (name) => {
    await forgetLast();
    const { said, code } = await startInVain(name, database.url);
    expect(said).toContain(`(${last}): run "npm run migrate".`);
    expect(code).toBe(1);
  });
});

describe('The schema of a later release', () => {
  beforeEach(() =>
    asOwner(
      `insert into schema_migrations (name) values ('m9999-later');
       create function of_later_release() returns void language sql as 'select';
       grant execute on function of_later_release to amanah_app`,
    ),
  );

  it('The migrations of an earlier release leave a later schema as it is', async () => {
    expect(await migrate(database.ownerUrl, {}, { list: [baseline] })).toEqual([]);
    expect(await migrate(database.ownerUrl)).toEqual([]);
    const { rows } = await asOwner('select name from schema_migrations order by id');
    expect(rows).toEqual([...names, 'm9999-later'].map((name) => ({ name })));
  });

  it('A process accepts unknown functions of a later schema, but still refuses a role that may write postings', async () => {
    await using orm = await openDatabase({ url: database.url, poolSize: 1 });
    const schema = await refuseMissingMigrations(orm.em.fork());
    expect(schema).toEqual({ isLater: true });
    await refuseMightyRole(orm.em.fork(), 'DATABASE_URL', schema);
    await asOwner('grant insert on postings to amanah_app');
    await expect(refuseMightyRole(orm.em.fork(), 'DATABASE_URL', schema)).rejects.toThrow(/may write postings/);
  });
});
