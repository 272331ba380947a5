import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Part } from '../../../dev/part.ts';
import { findFreePort } from '../../../dev/ports.ts';
import { postgresUrl, startPostgres } from '../../../dev/postgres.ts';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { applicationRole, readerRole, refuseMightyRole } from '../../../src/platform/database/database-roles.ts';
import { refuseOtherTimeOuts } from '../../../src/platform/database/database-time-outs.ts';
import { migrate } from '../../../src/wiring/commands/migrate.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { own } from '../../support/replicated.ts';
import { withClient } from '../../support/with-client.ts';

const directory = mkdtempSync(join(tmpdir(), 'amanah-restored-'));
const parts: Part[] = [];
afterAll(async () => {
  for (const part of parts) await part.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(name: string): Promise<{ directory: string; port: number; password: string; database: string }> {
  const place = {
    directory: join(directory, name),
    port: await findFreePort(),
    password: 'of-the-test',
    database: 'amanah',
    settings: { fsync: 'off' },
  };
  parts.push(await startPostgres(place, { logFile: join(directory, `${name}.log`) }));
  return place;
}

/** As docs/operations.md says: the files between the two calls, then the log of what happened meanwhile, which is kept. */
async function backUp(from: { directory: string }, to: string, client: pg.Client): Promise<void> {
  const copy = (part: string, filter: (path: string) => boolean = () => true) =>
    cpSync(join(from.directory, part), join(to, part), { recursive: true, preserveTimestamps: true, filter });
  const inLog = join(from.directory, 'pg_wal');
  await client.query("select pg_create_physical_replication_slot('backup', true, true)");
  await client.query("select pg_backup_start('test', true)");
  copy('.', (path) => !path.startsWith(`${inLog}/`) && !path.endsWith('postmaster.pid'));
  // The product goes on meanwhile: the log of the beginning is not needed by the database any more.
  for (let segment = 0; segment < 3; segment += 1) {
    await client.query("select pg_logical_emit_message(true, 'test', 'work')");
    await client.query('select pg_switch_wal()');
    await client.query('checkpoint');
  }
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  copy('pg_wal');
  writeFileSync(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  const { uid, gid } = statSync(from.directory);
  own(to, uid, gid);
}

describe('A restored base backup', () => {
  it('has the roles with their passwords, rights and time-outs, and refuses what it refused before', async () => {
    const original = await start('original');
    const { password } = original;
    // An owner who is no superuser, as in a deployment: it makes the roles, which then have the passwords given.
    const owner = postgresUrl({ ...original, role: 'amanah_owner' });
    await withClient(postgresUrl(original), async (client) => {
      await client.query(`create role amanah_owner login createrole password '${password}'`);
      await client.query('alter database amanah owner to amanah_owner');
    });
    await migrate(owner, { [applicationRole]: password, [readerRole]: password });
    await withClient(postgresUrl({ ...original, role: applicationRole }), (client) =>
      client.query("insert into accounts (id, name, kind) values (gen_random_uuid(), 'Kept', 'user')"),
    );
    await withClient(postgresUrl(original), (client) => backUp(original, join(directory, 'restored'), client));

    const restored = await start('restored');
    const application = postgresUrl({ ...restored, role: applicationRole });
    await withClient(application, async (client) => {
      const { rows } = await client.query("select count(*)::int as kept from accounts where name = 'Kept'");
      expect(rows).toEqual([{ kept: 1 }]);
      for (const attack of [
        "set session_replication_role = 'replica'",
        'alter table postings disable trigger all',
        'delete from events',
        'create temporary table account_balances (n int)',
        'insert into postings (journal_id, account_id, amount) values (gen_random_uuid(), gen_random_uuid(), 1)',
        "select write_journal(gen_random_uuid(), 'x', 'x', '{}', '{}')",
      ]) {
        await expect(client.query(attack)).rejects.toMatchObject({ code: '42501' });
      }
    });
    await using orm = await openDatabase({ url: application, poolSize: 1 });
    await refuseOtherTimeOuts(orm.em.fork());
    await refuseMightyRole(orm.em.fork());
    await using reader = await openDatabase({ url: postgresUrl({ ...restored, role: readerRole }), poolSize: 1 });
    expect((await runChecks(reader.em.fork())).filter(({ violations }) => violations > 0)).toEqual([]);
    expect(await migrate(postgresUrl({ ...restored, role: 'amanah_owner' }))).toEqual([]);
  }, 120_000);
});
