import { connect, createServer, type Socket } from 'node:net';
import type { EntityManager } from '@mikro-orm/postgresql';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { readInSnapshot } from '../../../src/platform/database/read-in-snapshot.ts';
import {
  attachReplica,
  type ReadOutcome,
  readFresh,
  refuseOtherReplica,
} from '../../../src/platform/database/replica.ts';
import { must } from '../../../src/shared/assert.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { refuse } from '../../../src/shared/errors.ts';
import { newId } from '../../../src/shared/ids.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type Replicated, startReplicated } from '../../support/replicated.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let replicated: Replicated;
let stack: Stack;
let person: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  replicated = await startReplicated();
  const { database, replicaUrl } = replicated;
  stack = await startStack({ own: true, database, env: { DATABASE_READ_URL: replicaUrl } });
  [person, platform] = await Promise.all([buildIndividual(stack, { balance: '1000' }), buildPlatformAdmin(stack)]);
  await untilServing();
}, 180_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await stack?.stop();
  await replicated?.stop();
});
afterEach(() => untilServing());

const product = (): EntityManager => stack.deps.orm.em.fork();
const isReplica = async (reader: EntityManager): Promise<boolean> =>
  (await reader.execute<[{ replica: boolean }]>('select pg_is_in_recovery() as replica'))[0].replica;

type Outcomes = Partial<Record<ReadOutcome, number>>;
async function outcomes(): Promise<Outcomes> {
  const metric = stack.deps.metrics.registry.getSingleMetric('amanah_replica_reads_total');
  const { values } = (await metric?.get()) ?? { values: [] };
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
}
/** Returns the number of reads that the work made, by outcome. */
async function outcomesOf(work: () => Promise<unknown>): Promise<Outcomes> {
  const before = await outcomes();
  await work();
  const after = Object.entries(await outcomes()) as [ReadOutcome, number][];
  return Object.fromEntries(
    after.map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)]).filter(([, count]) => count !== 0),
  );
}

/** A replica that was late or down is skipped for a while; a successful read puts it back into use. */
const untilServing = () =>
  eventually(
    () => readFresh(product(), isReplica),
    (replica) => replica,
  );

/** Returns the answer to a GET that made one read on the replica; retries while the replica lags. */
async function readOnReplica(path: string, { token }: BuiltUser): Promise<HttpAnswer> {
  let answer: HttpAnswer | undefined;
  await eventually(
    () =>
      outcomesOf(async () => {
        answer = await stack.get(path, { token });
      }),
    ({ replica }) => replica === 1,
  );
  return must(answer, 'it was answered');
}

const address = { province: 'Jawa Barat', city: 'Bandung', country: 'Indonesia' };
async function addAddress(label: string): Promise<string> {
  const { status, body } = await stack.post('/v1/addresses', { ...address, label }, { token: person.token });
  expect(status).toBe(201);
  return body.data.address.id;
}
async function listedLabels(): Promise<string[]> {
  const { status, body } = await stack.get('/v1/addresses?limit=100', { token: platform.token });
  expect(status).toBe(200);
  return body.data.addresses.map(({ label }: { label: string }) => label);
}

async function withoutTriggers(sql: string): Promise<void> {
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(sql);
  });
}

/** Commits rows that the replica shows and the primary does not: the commit waits for a standby that does not exist. */
async function aheadOfPrimary(rows: string, shown: string, work: () => Promise<void>): Promise<void> {
  const em = stack.owner();
  const waitForStandby = async (name: string) => {
    await em.execute(`alter system set synchronous_standby_names = '${name}'`);
    await em.execute('select pg_reload_conf()');
    await eventually(
      () => em.execute<[{ name: string }]>("select current_setting('synchronous_standby_names') as name"),
      ([setting]) => setting.name === name,
    );
    // Applies the setting.
    await em.execute('checkpoint');
  };
  await waitForStandby('nobody');
  const writing = withoutTriggers(rows);
  try {
    await eventually(
      () => replicated.onReplica(shown),
      (found) => found.length === 1,
    );
    await work();
  } finally {
    await waitForStandby('');
    await writing;
  }
}

async function pauseReplay<T>(work: () => Promise<T>): Promise<T> {
  await replicated.onReplica('select pg_wal_replay_pause()');
  try {
    await eventually(
      () => replicated.onReplica('select pg_get_wal_replay_pause_state() as state'),
      ([row]) => row?.state === 'paused',
    );
    return await work();
  } finally {
    await replicated.onReplica('select pg_wal_replay_resume()');
  }
}

describe('With DATABASE_READ_URL', () => {
  it('A list is read from the replica and includes everything committed just before', async () => {
    const counted = await outcomesOf(async () => {
      for (let round = 0; round < 20; round += 1) {
        const label = `fresh ${round}`;
        await addAddress(label);
        expect(await listedLabels()).toContain(label);
      }
    });
    expect(counted.replica ?? 0).toBeGreaterThan(10);
  }, 60_000);

  it('A read on the replica includes everything committed before, even by another process', async () => {
    const name = 'Written by another process';
    const count = async (reader: EntityManager) => ({
      replica: await isReplica(reader),
      ...(
        await reader.execute<[{ accounts: number }]>('select count(*)::int as accounts from accounts where name = ?', [
          name,
        ])
      )[0],
    });
    const seen: { replica: boolean; accounts: number }[] = [];
    for (let round = 1; round <= 100; round += 1) {
      await stack.em().execute("insert into accounts (id, name, kind) values (uuidv7(), ?, 'user')", [name]);
      seen.push(await readFresh(product(), count));
    }
    expect(seen.map(({ accounts }) => accounts)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.filter(({ replica }) => replica).length).toBeGreaterThan(50);
  }, 60_000);

  it('An account statement, an export and the checks are read from the replica', async () => {
    const counted = await outcomesOf(async () => {
      const statement = await stack.get(`/v1/accounts/${person.accountId}/statement`, { token: person.token });
      expect([statement.status, statement.body.data.closing_balance]).toEqual([200, '1000.0000']);
      const day = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
      const journals = await stack.get(`/v1/exports/journals?day=${day}`, { token: platform.token });
      expect(journals.status).toBe(200);
      expect(JSON.stringify(journals.body)).toContain(person.accountId);
    });
    expect(counted).toEqual({ replica: 2 });
    // On a busy machine the replica may be late once, and is then skipped.
    await eventually(
      async () => {
        let views = 0;
        const outcomes = await outcomesOf(async () => {
          views = (await runChecks(product())).length;
        });
        return { views, outcomes };
      },
      ({ views, outcomes }) => views > 10 && outcomes.replica === views && Object.keys(outcomes).length === 1,
    );
  });

  it('Transactions and events are read from the replica', async () => {
    const own = await readOnReplica('/v1/transactions', person);
    expect([own.status, own.body.data.transactions]).toEqual([200, []]);
    const all = await readOnReplica('/v1/events', platform);
    expect([all.status, all.body.data.items.length > 0]).toEqual([200, true]);
  });

  it('A list is one snapshot of the replica, even if the replica is ahead of the primary', async () => {
    const [withdrawal, account] = [newId(), newId()];
    const rows = `
      with account as (insert into accounts (id, name, kind, user_id) values ('${account}', 'Of the replica', 'user', '${person.id}')),
        balance as (insert into account_balances (account_id, shard, balance) values ('${account}', 0, 7)),
        payout as (insert into payouts (id, kind, source_account_id, reserved_account_id, reference, fee_mode, amount,
            fee, net_amount, bank_code, texts_sealed, status, created_at, updated_at)
          values ('${withdrawal}', 'withdrawal', '${account}', '${account}', '${withdrawal}', 'DEDUCTED', 7, 0, 7, 'BRI', '',
            'pending', now(), now()))
      insert into withdrawals (id, user_id, bank_account_id, transaction_id, created_at)
      values ('${withdrawal}', '${person.id}', '${account}', '${account}', now())`;
    try {
      await aheadOfPrimary(rows, `select from withdrawals where id = '${withdrawal}'`, async () => {
        const { status, body } = await readOnReplica('/v1/withdrawals', person);
        expect([status, body.data?.items]).toEqual([
          200,
          [expect.objectContaining({ id: withdrawal, amount: '7.0000' })],
        ]);
        const { body: accounts } = await readOnReplica('/v1/accounts', person);
        expect(accounts.data.items).toContainEqual(expect.objectContaining({ id: account, balance: '7.0000' }));
        expect(await stack.em().execute('select from withdrawals where id = ?', [withdrawal])).toEqual([]);
      });
    } finally {
      await withoutTriggers(`
      with one as (delete from withdrawals where id = '${withdrawal}'), two as (delete from payouts where id = '${withdrawal}'),
        three as (delete from account_balances where account_id = '${account}')
      delete from accounts where id = '${account}'`);
    }
  }, 60_000);

  it('Logins, permissions, balances and single resources are read from the primary', async () => {
    const id = await addAddress('mine');
    const counted = await outcomesOf(async () => {
      for (const path of ['/v1/auth/me', `/v1/addresses/${id}`, `/v1/accounts/${person.accountId}`]) {
        expect([path, (await stack.get(path, { token: person.token })).status]).toEqual([path, 200]);
      }
    });
    expect(counted).toEqual({});
    expect(await isReplica(product())).toBe(false);
  });

  it('A read within a transaction stays on the primary', async () => {
    const counted = await outcomesOf(() =>
      product().transactional(async (tx) => expect(await readFresh(tx, isReplica)).toBe(false)),
    );
    expect(counted).toEqual({});
  });

  it('A read refused on the replica is not repeated on the primary', async () => {
    const path = '/v1/addresses?after=00000000-0000-4000-8000-000000000000';
    const counted = await outcomesOf(async () =>
      expect((await stack.get(path, { token: platform.token })).status).toBe(400),
    );
    expect(counted).toEqual({});
    let asked = 0;
    const read = async () => {
      asked += 1;
      refuse('REQUEST_INVALID', 'cannot be');
    };
    await expect(readFresh(product(), read)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    expect(asked).toBe(1);
  });

  it.each([
    ['fails', 'select 1 from nothing'],
    ['takes too long', 'set local statement_timeout = 50; select pg_sleep(10)'],
  ])(
    'A read that %s on the replica is repeated on the primary, which serves the next reads alone',
    async (_, sql) => {
      const read = async (reader: EntityManager) => {
        if (await isReplica(reader)) await reader.execute(sql);
        return 'from the primary';
      };
      const counted = await outcomesOf(async () => {
        expect(await readFresh(product(), read)).toBe('from the primary');
        expect(await readFresh(product(), isReplica)).toBe(false);
      });
      expect(counted).toEqual({ failed: 1, resting: 1 });
      await untilServing();
      const ofParts = await outcomesOf(async () => {
        const parts: string[] = [];
        const inParts = async function* (reader: EntityManager) {
          yield await read(reader);
        };
        for await (const part of readInSnapshot(product(), inParts)) parts.push(part);
        expect(parts).toEqual(['from the primary']);
        expect(await readFresh(product(), isReplica)).toBe(false);
      });
      expect(ofParts).toEqual({ failed: 1, resting: 1 });
    },
    30_000,
  );

  itInFull('A download that fails on the replica midway is not restarted; the next starts on the primary', async () => {
    let begun = 0;
    const parts: number[] = [];
    const inParts = async function* () {
      begun += 1;
      yield begun;
      throw Object.assign(new Error('conflict with recovery'), { code: '40001' });
    };
    const read = async () => {
      for await (const part of readInSnapshot(product(), inParts)) parts.push(part);
    };
    await expect(read()).rejects.toThrow('conflict with recovery');
    expect(parts).toEqual([1]);
    expect(await outcomesOf(() => readFresh(product(), isReplica))).toEqual({ resting: 1 });
  });
});

describe('A replica that does not replay', () => {
  it('A replica that does not replay is awaited once and then skipped: the primary serves fresh reads', async () => {
    const counted = await pauseReplay(() =>
      outcomesOf(async () => {
        for (const label of ['while paused 1', 'while paused 2', 'while paused 3']) {
          await addAddress(label);
          expect(await listedLabels()).toContain(label);
        }
      }),
    );
    expect(counted).toEqual({ late: 1, resting: 2 });
    await untilServing();
    expect(await outcomesOf(async () => expect(await listedLabels()).toContain('while paused 3'))).toEqual({
      replica: 1,
    });
  }, 60_000);

  it('A read during a short lag is fresh, whether the replica or the primary serves it', async () => {
    await addAddress('before the pause');
    const counted = await outcomesOf(async () => {
      let listing: Promise<string[]> | undefined;
      await pauseReplay(async () => {
        await addAddress('a moment behind');
        listing = listedLabels();
      });
      expect(await listing).toContain('a moment behind');
    });
    expect((counted.replica ?? 0) + (counted.late ?? 0)).toBe(1);
  });
});

describe('A replica that is down', () => {
  it('A replica that is down fails no request, and serves reads again when it is back', async () => {
    await replicated.stopReplica();
    try {
      const counted = await outcomesOf(async () => {
        await addAddress('without the replica');
        expect(await listedLabels()).toContain('without the replica');
        const statement = await stack.get(`/v1/accounts/${person.accountId}/statement`, { token: person.token });
        expect(statement.status).toBe(200);
      });
      expect(counted).toEqual({ away: 1, resting: 1 });
      await expect(refuseOtherReplica(stack.deps.orm)).resolves.toBeUndefined();
    } finally {
      await replicated.startReplica();
    }
    await untilServing();
    expect(await outcomesOf(async () => expect(await listedLabels()).toContain('without the replica'))).toEqual({
      replica: 1,
    });
  }, 120_000);

  itInFull(
    'A replica that accepts connections but never responds delays only the first read',
    async () => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as { port: number };
      const told: ReadOutcome[] = [];
      await using primary = await openDatabase({ url: replicated.database.url, poolSize: 2 });
      const url = `postgresql://amanah_app:x@127.0.0.1:${port}/amanah`;
      const replica = await openDatabase({ url, poolSize: 2, connectWithinMs: 10_000 });
      attachReplica(primary, replica, (outcome) => told.push(outcome));
      await primary.em.fork().execute('select 1');
      const durations: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const startedAt = performance.now();
        expect(await readFresh(primary.em.fork(), isReplica)).toBe(false);
        durations.push(performance.now() - startedAt);
      }
      expect(told).toEqual(['away', 'resting', 'resting']);
      expect(durations[0]).toBeGreaterThanOrEqual(budgets.replica.begun - 10);
      expect(durations[1]).toBeLessThan(budgets.replica.begun);
      for (const socket of sockets) socket.destroy();
      silent.close();
      await replica.close(true);
    },
    30_000,
  );
});

describe('A replica that vanishes during a read', () => {
  itInFull(
    'A replica that vanishes during a read delays it by three seconds at most',
    async () => {
      const sockets: Socket[] = [];
      const { port: behind } = new URL(replicated.replicaUrl);
      const between = createServer((client) => {
        const server = connect(Number(behind), '127.0.0.1');
        for (const socket of [client, server]) sockets.push(socket.on('error', () => undefined));
        client.pipe(server).pipe(client);
      });
      await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
      const { port } = between.address() as { port: number };
      const told: ReadOutcome[] = [];
      await using primary = await openDatabase({ url: replicated.database.url, poolSize: 2 });
      const replica = await openDatabase({
        url: Object.assign(new URL(replicated.replicaUrl), { port }).href,
        poolSize: 2,
      });
      attachReplica(primary, replica, (outcome) => told.push(outcome));
      const read = async (reader: EntityManager) => {
        if (await isReplica(reader)) for (const socket of sockets) socket.unpipe().pause();
        return isReplica(reader);
      };
      const startedAt = performance.now();
      expect(await readFresh(primary.em.fork(), read)).toBe(false);
      expect(performance.now() - startedAt).toBeLessThan(budgets.database.role.statement);
      expect(await readFresh(primary.em.fork(), isReplica)).toBe(false);
      expect(told).toEqual(['failed', 'resting']);
      for (const socket of sockets) socket.destroy();
      between.close();
      await replica.close(true);
    },
    30_000,
  );
});

/** Starts a proxy that counts the round trips to a server. */
async function countTurns(port: string) {
  const sockets: Socket[] = [];
  let turns = 0;
  const between = createServer((client) => {
    const server = connect(Number(port), '127.0.0.1');
    let isAnswered = true;
    client.on('data', () => {
      turns += isAnswered ? 1 : 0;
      isAnswered = false;
    });
    server.on('data', () => {
      isAnswered = true;
    });
    for (const socket of [client, server]) sockets.push(socket.on('error', () => undefined));
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  return {
    through: (url: string) => Object.assign(new URL(url), { port: (between.address() as { port: number }).port }).href,
    turns: () => turns,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      between.close();
    },
  };
}

describe('Round trips of a read on the replica', () => {
  it('A read on the replica takes one round trip to the primary and four to the replica', async () => {
    using toPrimary = await countTurns(new URL(replicated.database.url).port);
    using toReplica = await countTurns(new URL(replicated.replicaUrl).port);
    await using primary = await openDatabase({ url: toPrimary.through(replicated.database.url), poolSize: 1 });
    await using replica = await openDatabase({ url: toReplica.through(replicated.replicaUrl), poolSize: 1 });
    attachReplica(primary, replica);
    const turns = async () => [toPrimary.turns(), toReplica.turns()];
    // The first round trips, which open the connections, are not counted.
    await eventually(
      () => readFresh(primary.em.fork(), isReplica),
      (isRead) => isRead,
    );
    await replica.em.fork().execute('select 1');
    // A read that finds the replica late is answered by the primary, and retried.
    const counted = await eventually(
      async () => {
        const [ofPrimary = 0, ofReplica = 0] = await turns();
        if (!(await readFresh(primary.em.fork(), isReplica))) return null;
        const [toOne = 0, toOther = 0] = await eventually(turns, ([, now = 0]) => now >= ofReplica + 4);
        return [toOne - ofPrimary, toOther - ofReplica];
      },
      (turned) => turned !== null,
    );
    expect(counted).toEqual([1, 4]);
  });
});

describe('After a failover', () => {
  it('A replica on the old timeline after a failover is not read, however far it has replayed', async () => {
    await using primary = await openDatabase({ url: await replicated.failOver(), poolSize: 2 });
    await using replica = await openDatabase({ url: replicated.replicaUrl, poolSize: 2 });
    const told: ReadOutcome[] = [];
    attachReplica(primary, replica, (outcome) => told.push(outcome));
    const [{ position }] = await primary.em
      .fork()
      .execute<[{ position: string }]>('select pg_current_wal_lsn()::text as position');
    await stack.owner().execute('select pg_switch_wal()');
    await addAddress('on the old timeline');
    await eventually(
      () => replicated.onReplica(`select pg_last_wal_replay_lsn() > '${position}' as is_beyond`),
      ([row]) => row?.is_beyond === true,
    );
    expect(await readFresh(primary.em.fork(), isReplica)).toBe(false);
    expect(told).toEqual(['late']);
  }, 120_000);
});

describe('Reads while the primary is being replaced', () => {
  it('During a failover, lists are read from DATABASE_URL even if it points to a standby', async () => {
    await using standby = await openDatabase({ url: replicated.replicaUrl, poolSize: 2 });
    await using replica = await openDatabase({ url: replicated.replicaUrl, poolSize: 2 });
    const told: ReadOutcome[] = [];
    attachReplica(standby, replica, (outcome) => told.push(outcome));
    expect(await readFresh(standby.em.fork(), async () => 'read')).toBe('read');
    expect(told).toEqual(['away']);
  });
});

describe('DATABASE_READ_URL', () => {
  it('DATABASE_READ_URL is refused at the start unless it points to a replica, with the same role', async () => {
    const { url, ownerUrl, readerUrl } = replicated.database;
    const refusalOf = async (readUrl: string): Promise<string> => {
      await using primary = await openDatabase({ url, poolSize: 1 });
      await using other = await openDatabase({ url: readUrl, poolSize: 1 });
      attachReplica(primary, other);
      return await refuseOtherReplica(primary).then(
        () => 'taken',
        (error: Error) => error.message,
      );
    };
    const { port } = new URL(replicated.replicaUrl);
    const onReplica = (primaryUrl: string) => Object.assign(new URL(primaryUrl), { port }).href;
    expect(await refusalOf(replicated.replicaUrl)).toBe('taken');
    expect(await refusalOf(url)).toBe('DATABASE_READ_URL cannot be used: it is not a replica.');
    expect(await refusalOf(onReplica(readerUrl))).toMatch(/: its role is amanah_reader and not amanah_app\.$/);
    expect(await refusalOf(Object.assign(new URL(onReplica(ownerUrl)), { pathname: '/postgres' }).href)).toMatch(
      /: it is the database postgres and not amanah; its role is amanah and not amanah_app\.$/,
    );
  });

  it('DATABASE_READ_URL is malformed if it names no database, or the one in DATABASE_URL', () => {
    const { DATABASE_URL, DATABASE_READ_URL } = stack.env;
    expect(readConfig(stack.env).DATABASE_READ_URL).toBe(DATABASE_READ_URL);
    const complaint = (value: string) => () => readConfig({ ...stack.env, DATABASE_READ_URL: value });
    expect(complaint('https://example.org')).toThrow(/DATABASE_READ_URL is malformed/);
    expect(complaint(String(DATABASE_URL))).toThrow(
      'DATABASE_READ_URL is malformed: names the database of DATABASE_URL',
    );
  });
});
