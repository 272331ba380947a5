import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../../dev/ports.ts';
import { postgresUrl, startPostgres } from '../../../dev/postgres.ts';
import { applicationRole } from '../../../src/platform/database/database-roles.ts';
import { migrate } from '../../../src/wiring/commands/migrate.ts';
import { testRun } from '../../support/run.ts';

const document = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'scale.md'), 'utf8');
const blocks = [...document.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql);

describe('The queries of docs/scale.md', () => {
  it('The queries of docs/scale.md run with the role that it creates and docker compose’s extensions', async () => {
    const { directory } = testRun();
    const options = {
      directory: join(directory, 'growing'),
      port: await findFreePort(),
      password: 'growing',
      database: 'amanah',
      settings: { shared_preload_libraries: 'pg_stat_statements' },
    };
    const postgres = await startPostgres(options, { logFile: join(directory, 'growing.log') });
    const superuser = new pg.Client({ connectionString: postgresUrl({ ...options, database: 'postgres' }) });
    const application = new pg.Client({ connectionString: postgresUrl({ ...options, role: applicationRole }) });
    try {
      await migrate(postgresUrl(options), { [applicationRole]: options.password });
      await Promise.all([superuser.connect(), application.connect()]);
      const [made = '', ...queries] = blocks;
      expect([made, queries.length]).toEqual([expect.stringMatching(/^create role monitoring /), 4]);
      await superuser.query(made);
      const visible =
        "select count(query) filter (where query <> '<insufficient privilege>')::int as n from pg_stat_activity where usename = 'amanah'";
      const seenBy = async (client: pg.Client) => (await client.query<{ n: number }>(visible)).rows[0]?.n ?? 0;
      expect(await seenBy(application)).toBe(0);
      const [byStatement = '', byDatabase = '', waiting = '', share = ''] = queries;
      // Every role may read what partners did; the rest needs this role.
      expect((await application.query(share)).rows).toEqual([]);
      await superuser.query('set role monitoring');
      expect(await seenBy(superuser)).toBeGreaterThan(0);
      const statements = (await superuser.query<{ statement: string }>(byStatement)).rows;
      expect(statements.some(({ statement }) => /^create/i.test(statement))).toBe(true);
      expect((await superuser.query(byDatabase)).rows).toContainEqual({
        datname: 'amanah',
        percent: expect.any(Number),
      });
      expect((await superuser.query(waiting)).rows).toEqual([{ share: null }]);
    } finally {
      await Promise.all([superuser.end(), application.end()]);
      await postgres.stop();
    }
  }, 120_000);
});
