import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { archiveMonth } from '../../../src/platform/archive/archive-month.ts';
import { restoreMonth } from '../../../src/platform/archive/restore-month.ts';
import { verifyArchives } from '../../../src/platform/archive/verify-archives.ts';
import { sha256 } from '../../../src/shared/digest.ts';
import { buildIndividual } from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildOldMonth, divided, idIn, monthsAgo, rowsOf } from './build-month.ts';

const afterMonths = 12;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, env: { LOG_LEVEL: 'silent' } });
}, 60_000);
afterAll(() => stack?.stop());

/** Runs the command as an operator types it. */
function run(command: 'archive' | 'archive-restore', args: string[], env: Record<string, string> = {}) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [`src/wiring/commands/${command}.ts`, ...args],
    {
      encoding: 'utf8',
      env: {
        ...stack.env,
        MIGRATION_DATABASE_URL: stack.databaseUrls.owner,
        ARCHIVE_AFTER_MONTHS: String(afterMonths),
        ...env,
      },
    },
  );
  return { status, signal, stdout: stdout.trim(), stderr: stderr.trim() };
}
const all = (month: string) => Promise.all(divided.map((table) => rowsOf(stack, table, month)));
const archive = (month: string, table: string) =>
  archiveMonth(stack.owner(), stack.deps.storage, { table, month, afterMonths });
const restore = (month: string, table: string) => restoreMonth(stack.owner(), stack.deps.storage, { table, month });

describe('An old month', () => {
  const month = monthsAgo(14);
  let before: string[][];
  beforeAll(async () => {
    await buildOldMonth(stack, month);
    before = await all(month);
    expect(before.map((rows) => rows.length)).toEqual([3, 2, 2]);
  }, 60_000);

  it('An old month can be archived and restored unchanged', async () => {
    expect(run('archive', ['--month', month])).toMatchObject({
      status: 0,
      stdout: 'events: archived, 3 rows\ngateway_callbacks: archived, 2 rows\nwebhook_deliveries: archived, 2 rows',
    });
    expect(await all(month)).toEqual([[], [], []]);
    await expectChecksEmpty(stack);
    expect(run('archive', ['--month', month])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('events: is archived already, 3 rows'),
    });
    expect(run('archive-restore', ['--month', month])).toMatchObject({
      stderr: '',
      status: 0,
      stdout: 'events: restored, 3 rows\ngateway_callbacks: restored, 2 rows\nwebhook_deliveries: restored, 2 rows',
    });
    expect(await all(month)).toEqual(before);
    await expectChecksEmpty(stack);
    expect(run('archive-restore', ['--month', month, '--table', 'events'])).toMatchObject({
      status: 0,
      stdout: 'events: is in the database',
    });
  }, 120_000);

  it('The callback keys of an archived month stay, so that its callbacks are not stored again', async () => {
    await archive(month, 'gateway_callbacks');
    const again = stack.owner().execute(
      `insert into callback_keys (webhook_id, body_digest, callback_id) select webhook_id, body_digest, uuidv7()
         from callback_keys where webhook_id like '${month} %'`,
    );
    await expect(again).rejects.toMatchObject({ code: '23505' });
    await restore(month, 'gateway_callbacks');
  });

  it.each(casesOf(['archive.removed', 'archive.closed', 'archive.part', 'archive.copied']))(
    'Archiving a month completes on the next run after the command was killed at %s',
    async (failpoint) => {
      expect(run('archive', ['--month', month], { FAILPOINTS: `${failpoint}=kill` }).signal).toBe('SIGKILL');
      expect(run('archive', ['--month', month])).toMatchObject({ status: 0 });
      expect(await all(month)).toEqual([[], [], []]);
      await expectChecksEmpty(stack);
      for (const table of divided) await restore(month, table);
      expect(await all(month)).toEqual(before);
    },
    120_000,
  );

  it.each(casesOf(['restore.attached', 'restore.part', 'restore.loaded']))(
    'Restoring a month completes on the next run after the command was killed at %s',
    async (failpoint) => {
      for (const table of divided) await archive(month, table);
      expect(run('archive-restore', ['--month', month], { FAILPOINTS: `${failpoint}=kill` }).signal).toBe('SIGKILL');
      await expectChecksEmpty(stack);
      expect(run('archive-restore', ['--month', month])).toMatchObject({ status: 0 });
      expect(await all(month)).toEqual(before);
      await expectChecksEmpty(stack);
    },
    120_000,
  );

  it('An old month stays archived while an object differs or is missing, and can be restored afterwards', async () => {
    await archive(month, 'events');
    const { storage } = stack.deps;
    const keys: string[] = [];
    for await (const key of storage.list(`archive/events/${month}/`)) keys.push(key);
    const part = keys.find((key) => key.endsWith('.jsonl.gz')) ?? '';
    const kept = (await storage.read(part, 1_000_000)) ?? Buffer.alloc(0);
    const put = (content: Buffer) =>
      storage.put(
        part,
        { contentType: 'application/gzip', sizeBytes: content.length, sha256: sha256(content) },
        Readable.from([content], { objectMode: false }),
      );
    const differences = async () => (await verifyArchives(stack.em(), storage)).differences;
    expect(await differences()).toEqual([]);
    await storage.remove(part);
    expect(await differences()).toEqual([`events ${month}: the object ${part} is not in the file store`]);
    await expect(restore(month, 'events')).rejects.toThrow(`the object ${part} is not in the file store`);
    await put(Buffer.from('something else'));
    expect(await differences()).toEqual([`events ${month}: the object ${part} is not what was archived`]);
    await expect(restore(month, 'events')).rejects.toThrow(`the object ${part} is not what was archived`);
    expect(await rowsOf(stack, 'events', month)).toEqual([]);
    await put(kept);
    expect(await restore(month, 'events')).toMatchObject({ state: 'restored', rows: 3 });
    expect(await rowsOf(stack, 'events', month)).toEqual(before[0]);
  });

  it('An old month accepts no rows once its archiving has started', async () => {
    await archive(month, 'events');
    await restore(month, 'events');
    const insert = `insert into events (id, event, impact, resource_type, created_at)
      values (${idIn(month)}, 'LATE', 'LOW', 'thing', '${month}-15')`;
    expect(run('archive', ['--month', month, '--table', 'events'], { FAILPOINTS: 'archive.closed=kill' }).signal).toBe(
      'SIGKILL',
    );
    await expect(stack.owner().execute(insert)).rejects.toMatchObject({ code: 'AM003' });
    expect(await archive(month, 'events')).toMatchObject({ state: 'archived', rows: 3 });
    await restore(month, 'events');
  }, 60_000);
});

describe('Months that are not archived', () => {
  const month = monthsAgo(15);
  beforeAll(async () => {
    await buildIndividual(stack);
    await buildOldMonth(stack, month);
  }, 60_000);

  const cases: [reason: RegExp, table: string, plant: string, undo: string][] = [
    [
      /housekeeping has not yet deleted its read events/,
      'events',
      `insert into events (id, event, impact, resource_type, created_at)
       values (${idIn(month)}, 'RESOURCE_FETCHED', 'LOW', 'planted', '${month}-15')`,
      "delete from events where resource_type = 'planted'",
    ],
    [
      /callbacks are undelivered/,
      'gateway_callbacks',
      `update gateway_callbacks set delivered_at = null where webhook_id like '${month} %'`,
      `update gateway_callbacks set delivered_at = received_at where webhook_id like '${month} %'`,
    ],
    [
      /bodies of callbacks are still kept/,
      'gateway_callbacks',
      `update gateway_callbacks set body_sealed = 'x' where webhook_id like '${month} %'`,
      `update gateway_callbacks set body_sealed = null where webhook_id like '${month} %'`,
    ],
    [
      /callbacks refer to open payments/,
      'gateway_callbacks',
      `insert into payment_orders (id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal, admin_fee,
         status, expires_at, created_at, updated_at)
       select c.reference::uuid, a.user_id, 'account_top_up', a.id, a.id, 1, 5, 0, 'PENDING', now(), now(), now()
       from gateway_callbacks c cross join accounts a
       where c.webhook_id like '${month} %' and a.kind = 'user' and a.user_id is not null limit 1`,
      "update payment_orders set status = 'FAILED', finalized_at = now() where status = 'PENDING'",
    ],
    [
      /webhooks are pending/,
      'webhook_deliveries',
      `update webhook_deliveries set status = 'pending', body_sealed = 'x', delivered_at = null, next_attempt_at = now()`,
      `update webhook_deliveries set status = 'delivered', body_sealed = null, delivered_at = now(), next_attempt_at = null`,
    ],
    [
      /bodies of webhooks are still kept/,
      'webhook_deliveries',
      "update webhook_deliveries set body_sealed = 'x'",
      'update webhook_deliveries set body_sealed = null',
    ],
  ];
  it.each(cases)('A month is not archived while %s', async (reason, table, plant, undo) => {
    await stack.owner().execute(plant);
    expect(await archive(month, table)).toMatchObject({ state: 'needed', reason: expect.stringMatching(reason) });
    // The month still accepts writes.
    await stack.owner().execute(undo);
    expect(await archive(month, table)).toMatchObject({ state: 'archived' });
    await restore(month, table);
  });

  it('A recent or unsealed month is not archived', async () => {
    const young = monthsAgo(12);
    await stack.owner().execute(`select make_month('events', '${young}-01')`);
    expect(await archive(young, 'events')).toMatchObject({
      state: 'needed',
      reason: expect.stringMatching(/^\S+ ended/),
    });
    expect(run('archive', ['--month', young, '--table', 'events']).status).toBe(1);
    await using unsealed = await startStack({ own: true, env: { LOG_LEVEL: 'silent' } });
    await unsealed.owner().execute(`select make_month('events', '${month}-01')`);
    expect(
      await archiveMonth(unsealed.owner(), unsealed.deps.storage, { table: 'events', month, afterMonths }),
    ).toMatchObject({ state: 'needed', reason: `the last day of ${month} is not sealed` });
  }, 60_000);

  it('A month that never existed is reported as absent', async () => {
    expect(await archive(monthsAgo(40), 'events')).toMatchObject({ state: 'absent' });
    expect(await restore(monthsAgo(40), 'events')).toMatchObject({ state: 'absent' });
  });
});

describe('Refused archive commands', () => {
  it.each([
    ['an invalid month', ['--month', '2025-13'], {}, '--month must be a month, YYYY-MM'],
    ['no month', [], {}, '--month must be a month, YYYY-MM'],
    [
      'another table',
      ['--month', '2025-01', '--table', 'users'],
      {},
      '--table must be one of events, gateway_callbacks, webhook_deliveries',
    ],
    [
      'a missing age',
      ['--month', '2025-01'],
      { ARCHIVE_AFTER_MONTHS: '' },
      'ARCHIVE_AFTER_MONTHS is not set: nothing is archived.',
    ],
    [
      'an age below the minimum',
      ['--month', '2025-01'],
      { ARCHIVE_AFTER_MONTHS: '3' },
      /ARCHIVE_AFTER_MONTHS is malformed/,
    ],
  ] as const)('The archive command rejects %s and names it', (_, args, env, sentence) => {
    const { status, stderr } = run('archive', [...args], env);
    expect(status).toBe(2);
    expect(stderr).toMatch(sentence);
  });

  it('The archive command rejects a role that is not the owner', () => {
    const { status, stderr } = run('archive', ['--month', '2025-01'], {
      MIGRATION_DATABASE_URL: stack.databaseUrls.app,
    });
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/may not archive: name the owner .* MIGRATION_DATABASE_URL/),
    ]);
  });
});
