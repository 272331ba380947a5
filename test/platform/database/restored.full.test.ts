import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKeysDatabase } from '../../../dev/keys-database.ts';
import type { Part } from '../../../dev/part.ts';
import { findFreePort } from '../../../dev/ports.ts';
import { keysUrlBeside, postgresUrl, startPostgres } from '../../../dev/postgres.ts';
import { startS3 } from '../../../dev/s3.ts';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { applicationRole, readerRole } from '../../../src/platform/database/database-roles.ts';
import { refuseOtherTimeOuts } from '../../../src/platform/database/database-time-outs.ts';
import { refuseMightyRole } from '../../../src/platform/database/refuse-mighty-role.ts';
import { migrate } from '../../../src/wiring/commands/migrate.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { type Backups, keepBackups } from '../../support/backups.ts';
import { buildIndividual } from '../../support/build.ts';
import { openPoolAccount } from '../../support/build-targets.ts';
import { eventually } from '../../support/eventually.ts';
import { startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

const directory = mkdtempSync(join(tmpdir(), 'amanah-restored-'));
const parts: Part[] = [];
const kept: Backups[] = [];
afterAll(async () => {
  for (const backups of kept) await backups.stop();
  for (const part of parts) await part.stop();
  rmSync(directory, { recursive: true, force: true });
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

async function keep(place: Place, settings?: Record<string, string>): Promise<Backups> {
  const backups = await keepBackups(postgresUrl(place), `${place.directory}-backups`, place.directory, settings);
  kept.push(backups);
  return backups;
}

/** Resolves once a restored server accepts writes. */
const promoted = (place: Place) =>
  withClient(postgresUrl(place), (client) =>
    eventually(
      async () => (await client.query<{ running: boolean }>('select pg_is_in_recovery() as running')).rows[0]?.running,
      (isRunning) => isRunning === false,
    ),
  );

describe('A restored base backup', () => {
  it('A restored base backup keeps the roles with their passwords, rights, refusals and time-outs', async () => {
    const original = await start('original');
    const { password } = original;
    // An owner without superuser rights, as in a deployment: it creates the roles, which then have the passwords given.
    const owner = postgresUrl({ ...original, role: 'amanah_owner' });
    await withClient(postgresUrl(original), async (client) => {
      await client.query(`create role amanah_owner login createrole password '${password}'`);
      await client.query('alter database amanah owner to amanah_owner');
    });
    await migrate(owner, { [applicationRole]: password, [readerRole]: password });
    await withClient(postgresUrl({ ...original, role: applicationRole }), (client) =>
      client.query("insert into accounts (id, name, kind) values (gen_random_uuid(), 'Kept', 'user')"),
    );
    const backups = await keep(original);
    await backups.streamed();
    backups.restore(join(directory, 'restored'));

    const restored = await start('restored');
    await promoted(restored);
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

describe('Backups taken beside PostgreSQL', () => {
  it('Continuous backups restore to a point in time, and continue with the restored server', async () => {
    const original = await start('archived');
    const url = postgresUrl(original);
    await withClient(url, (client) => client.query('create table kept (what text)'));
    const backups = await keep(original);
    const moment = await withClient(url, async (client) => {
      await client.query("insert into kept values ('before')");
      const { rows } = await client.query<{ moment: string }>('select clock_timestamp()::text as moment');
      await client.query("insert into kept values ('after')");
      return rows[0]?.moment ?? '';
    });
    await backups.streamed();
    backups.restore(join(directory, 'earlier'), moment);
    expect(() => backups.restore(join(directory, 'earlier'), moment)).toThrow('is not empty');
    expect(() => backups.restore(join(directory, 'never'), '2020-01-01 00:00:00+07')).toThrow('no good backup');

    const earlier = await start('earlier');
    await promoted(earlier);
    const { rows } = await withClient(postgresUrl(earlier), (client) => client.query('select what from kept'));
    expect(rows).toEqual([{ what: 'before' }]);

    const rules = readFileSync(join(import.meta.dirname, '../../../deploy/prometheus/alerts.yml'), 'utf8');
    // A third metric, of off-site copies, has a test of its own.
    const asked = new Set(rules.match(/amanah_(backup|wal)_kept_\w+/g));
    const told = await backups.metrics();
    expect(asked.size).toBe(2);
    for (const name of asked) expect(told).toMatch(new RegExp(`^${name}\\{server="amanah"\\} \\d{10}`, 'm'));
    await backups.stop();
    // Backups continue under the same name and in the same directory, as after a restore in place, on a new timeline.
    const anew = await keepBackups(postgresUrl(earlier), join(directory, 'archived-backups'), earlier.directory);
    anew.run('now');
    await withClient(postgresUrl(earlier), (client) => client.query("insert into kept values ('anew')"));
    await anew.streamed();
    anew.restore(join(directory, 'later'));
    await anew.stop();
    const later = await start('later');
    await promoted(later);
    const found = await withClient(postgresUrl(later), (client) => client.query('select what from kept'));
    expect(found.rows).toEqual([{ what: 'before' }, { what: 'anew' }]);
  }, 240_000);

  it('Off-site copies restore a database that was lost together with its backups', async () => {
    const bucket = { bucket: 'copies', accessKeyId: 'of-the-test', secretAccessKey: 'of-the-test' };
    const s3 = { ...bucket, directory: join(directory, 's3'), port: await findFreePort() };
    parts.push(await startS3(s3, { logFile: join(directory, 's3.log') }));
    const original = await start('burnt');
    const backups = await keep(original, {
      BACKUP_S3: 's3://copies/here',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${s3.port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: bucket.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
      AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
    });
    const ofUrl = postgresUrl(original);
    await eventually(backups.metrics, (text) =>
      /^amanah_copy_kept_timestamp_seconds\{server="amanah"\} [1-9]/m.test(text),
    );
    const moment = await withClient(ofUrl, async (client) => {
      await client.query("create table kept (what text); insert into kept values ('before')");
      const { rows } = await client.query<{ moment: string }>('select clock_timestamp()::text as moment');
      await client.query("insert into kept values ('after')");
      return rows[0]?.moment ?? '';
    });
    backups.run('copy');
    await backups.stop();
    rmSync(`${original.directory}-backups`, { recursive: true, force: true });

    expect(() => backups.restore(join(directory, 'never'), '2020-01-01 00:00:00+07', 'fetch')).toThrow(
      'no good backup',
    );
    backups.restore(join(directory, 'fetched'), moment, 'fetch');
    const fetched = await start('fetched');
    await promoted(fetched);
    const { rows } = await withClient(postgresUrl(fetched), (client) => client.query('select what from kept'));
    expect(rows).toEqual([{ what: 'before' }]);
    backups.restore(join(directory, 'fetched-last'), undefined, 'fetch');
    const last = await start('fetched-last');
    await promoted(last);
    const all = await withClient(postgresUrl(last), (client) => client.query('select what from kept'));
    expect(all.rows).toEqual([{ what: 'before' }, { what: 'after' }]);
  }, 240_000);

  it('Continuous backups restore a database lost under load with all streamed payments and correct books', async () => {
    const original = await start('lost');
    const ownerUrl = postgresUrl(original);
    const urlOf = (role: string) => postgresUrl({ ...original, role });
    await migrate(ownerUrl, { [applicationRole]: original.password, [readerRole]: original.password });
    await makeKeysDatabase(keysUrlBeside(ownerUrl));
    const [url, readerUrl] = [urlOf(applicationRole), urlOf(readerRole)];
    const keys = { keysUrl: keysUrlBeside(url), keysOwnerUrl: keysUrlBeside(ownerUrl) };
    const database = { ownerUrl, url, readerUrl, ...keys, drop: async () => undefined };
    const stack = await startStack({ own: true, isImpatient: true, database, env: { LOG_LEVEL: 'silent' } });
    const payers = await Promise.all(Array.from({ length: 8 }, () => buildIndividual(stack, { balance: '90000000' })));
    const backups = await keep(original);

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
    const streamed = paid;
    await backups.streamed();
    await paidTimes(paid + 50);
    const [postmaster] = readFileSync(join(original.directory, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(postmaster), 'SIGQUIT');
    rmSync(original.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    isLost = true;
    await Promise.all(load);
    await stack.stop();

    await backups.stop();
    backups.restore(join(directory, 'found'));
    const again = await start('found');
    await promoted(again);
    const foundUrl = new URL(postgresUrl(again));
    foundUrl.username = readerRole;
    const [found] = await withClient(foundUrl.href, async (client) => {
      return (await client.query<{ count: number }>('select count(*)::int as count from donations')).rows;
    });
    expect(found?.count).toBeGreaterThanOrEqual(streamed);
    await using orm = await openDatabase({ url: foundUrl.href, poolSize: 1 });
    expect((await runChecks(orm.em.fork())).filter(({ violations }) => violations > 0)).toEqual([]);
  }, 180_000);
});
