import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { makeKeysDatabase } from '../../../dev/keys-database.ts';
import type { Part } from '../../../dev/part.ts';
import { findFreePort } from '../../../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../../../dev/postgres.ts';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { applicationRole, readerRole } from '../../../src/platform/database/database-roles.ts';
import { refuseOtherTimeOuts } from '../../../src/platform/database/database-time-outs.ts';
import { refuseMightyRole } from '../../../src/platform/database/refuse-mighty-role.ts';
import { migrate } from '../../../src/wiring/commands/migrate.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { buildIndividual } from '../../support/build.ts';
import { openPoolAccount } from '../../support/build-targets.ts';
import { eventually } from '../../support/eventually.ts';
import { own } from '../../support/replicated.ts';
import { startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

const directory = mkdtempSync(join(tmpdir(), 'amanah-restored-'));
const parts: Part[] = [];
const archives: string[] = [];
afterAll(async () => {
  for (const part of parts) await part.stop();
  for (const place of [directory, ...archives]) rmSync(place, { recursive: true, force: true });
});

interface Place {
  directory: string;
  port: number;
  password: string;
  database: string;
}

async function start(name: string, settings: Record<string, string> = {}): Promise<Place> {
  const place = {
    directory: join(directory, name),
    port: await findFreePort(),
    password: 'of-the-test',
    database: 'amanah',
    settings: { fsync: 'off', ...settings },
  };
  parts.push(await startPostgres(place, { logFile: join(directory, `${name}.log`) }));
  return place;
}

/** As `pg_basebackup` does: the files between the two calls, then the log of what happened meanwhile, which is kept. */
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

/** A cluster whose log is archived, and the directory where. */
async function startArchiving(name: string): Promise<Place & { archive: string }> {
  const archive = mkdtempSync(join(tmpdir(), 'amanah-archive-'));
  archives.push(archive);
  chmodSync(archive, 0o777);
  const place = await start(name, { archive_mode: 'on', archive_command: `cp %p ${archive}/%f` });
  return { ...place, archive };
}

/** Waits until everything written so far is in the archive. */
async function archiveLog(client: pg.Client, archive: string): Promise<void> {
  const { rows } = await client.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
  await eventually(
    async () => existsSync(join(archive, rows[0]?.file ?? '')),
    (isThere) => isThere,
  );
}

/**
 * Restores a base backup as the page of the runbook says, to a moment, or without one to the end of the archive. Its URL once
 * it takes writes.
 */
async function restored({ archive }: { archive: string }, name: string, moment: string | null): Promise<string> {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/runbook/restore.md'), 'utf8');
  const settings = page.match(/^ *(restore_command|recovery_target_\w+) = .+$/gm) ?? [];
  expect(settings).toHaveLength(3);
  const filled = settings
    .filter((line) => moment !== null || line.includes('restore_command'))
    .map((line) => line.replace('/archive/', `${archive}/`).replace(/'2026-[^']+'/, `'${moment}'`));
  const to = join(directory, name);
  appendFileSync(join(to, 'postgresql.conf'), `\n${filled.join('\n')}\n`);
  writeFileSync(join(to, 'recovery.signal'), '');
  const { uid, gid } = statSync(join(to, 'PG_VERSION'));
  own(to, uid, gid);
  const url = postgresUrl(await start(name));
  await withClient(url, (client) =>
    eventually(
      async () => (await client.query<{ running: boolean }>('select pg_is_in_recovery() as running')).rows[0]?.running,
      (isRunning) => isRunning === false,
    ),
  );
  return url;
}

describe('A base backup with archived log', () => {
  it('is restored to the point in time that the page of the runbook names', async () => {
    const original = await startArchiving('archived');
    const moment = await withClient(postgresUrl(original), async (client) => {
      await client.query('create table kept (what text)');
      await backUp(original, join(directory, 'earlier'), client);
      await client.query("insert into kept values ('before')");
      const { rows } = await client.query<{ moment: string }>('select clock_timestamp()::text as moment');
      await client.query("insert into kept values ('after')");
      await archiveLog(client, original.archive);
      return rows[0]?.moment ?? '';
    });
    const kept = await withClient(await restored(original, 'earlier', moment), async (client) => {
      return (await client.query<{ what: string }>('select what from kept')).rows;
    });
    expect(kept).toEqual([{ what: 'before' }]);
  }, 120_000);

  it('brings a database back that is lost under load: every payment that was archived, and books in order', async () => {
    const original = await startArchiving('lost');
    const ownerUrl = postgresUrl(original);
    const urlOf = (role: string) => postgresUrl({ ...original, role });
    await migrate(ownerUrl, { [applicationRole]: original.password, [readerRole]: original.password });
    await makeKeysDatabase(keysUrlBeside(ownerUrl));
    const [url, readerUrl] = [urlOf(applicationRole), urlOf(readerRole)];
    const keys = { keysUrl: keysUrlBeside(url), keysOwnerUrl: keysUrlBeside(ownerUrl) };
    const database = { ownerUrl, url, readerUrl, ...keys, drop: async () => undefined };
    const stack = await startStack({ own: true, isImpatient: true, database, env: { LOG_LEVEL: 'silent' } });
    const payers = await Promise.all(Array.from({ length: 8 }, () => buildIndividual(stack, { balance: '90000000' })));
    await withClient(ownerUrl, (client) => backUp(original, join(directory, 'found'), client));

    let paid = 0;
    let isLost = false;
    const load = payers.map(async ({ token, accountId }) => {
      const target = { reference_type: 'charitable_cause_open_donate', reference_id: openPoolAccount };
      const body = { ...target, source_account_id: accountId, amount: 1_000 };
      while (!isLost) {
        const status = await stack.post('/v1/payments/balance', body, { token }).then(
          (answer) => answer.status,
          () => 0,
        );
        if (status === 201) paid += 1;
      }
    });
    const paidTimes = (times: number) =>
      eventually(
        async () => paid,
        (count) => count >= times,
      );
    await paidTimes(100);
    const archived = paid;
    await withClient(ownerUrl, (client) => archiveLog(client, original.archive));
    await paidTimes(paid + 50);
    const [postmaster] = readFileSync(join(original.directory, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(postmaster), 'SIGQUIT');
    rmSync(original.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    isLost = true;
    await Promise.all(load);
    await stack.stop();

    const foundUrl = new URL(await restored(original, 'found', null));
    foundUrl.username = readerRole;
    const [found] = await withClient(foundUrl.href, async (client) => {
      return (await client.query<{ count: number }>('select count(*)::int as count from donations')).rows;
    });
    expect(found?.count).toBeGreaterThanOrEqual(archived);
    await using orm = await openDatabase({ url: foundUrl.href, poolSize: 1 });
    expect((await runChecks(orm.em.fork())).filter(({ violations }) => violations > 0)).toEqual([]);
  }, 180_000);
});
