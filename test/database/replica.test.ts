import { createServer, type Socket } from 'node:net';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { readInSnapshot } from '../../src/database/read-in-snapshot.ts';
import { attachReplica, type ReadOutcome, readFresh, refuseOtherReplica } from '../../src/database/replica.ts';
import { runChecks } from '../../src/ledger/run-checks.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { refuse } from '../../src/shared/errors.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { type Replicated, startReplicated } from '../support/replicated.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let replicated: Replicated;
let stack: Stack;
let person: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  replicated = await startReplicated();
  const { database, replicaUrl } = replicated;
  stack = await startStack({ database, env: { DATABASE_READ_URL: replicaUrl } });
  [person, platform] = await Promise.all([buildIndividual(stack, { balance: '1000' }), buildPlatformAdmin(stack)]);
}, 180_000);
afterAll(async () => {
  await stack?.stop();
  await replicated?.stop();
});
afterEach(async () => {
  await untilServing();
  await expectChecksEmpty(stack);
});

const product = (): EntityManager => stack.deps.orm.em.fork();
const isReplica = async (reader: EntityManager): Promise<boolean> =>
  (await reader.execute<[{ replica: boolean }]>('select pg_is_in_recovery() as replica'))[0].replica;

type Outcomes = Partial<Record<ReadOutcome, number>>;
async function outcomes(): Promise<Outcomes> {
  const metric = stack.deps.metrics.registry.getSingleMetric('amanah_replica_reads_total');
  const { values } = (await metric?.get()) ?? { values: [] };
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
}
/** What the work's reads came to. */
async function outcomesOf(work: () => Promise<unknown>): Promise<Outcomes> {
  const before = await outcomes();
  await work();
  const after = Object.entries(await outcomes()) as [ReadOutcome, number][];
  return Object.fromEntries(
    after.map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)]).filter(([, count]) => count !== 0),
  );
}

/** After it was late or away the replica rests; a read makes it serve again. */
const untilServing = () =>
  eventually(
    () => readFresh(product(), isReplica),
    (replica) => replica,
  );

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
  it('a list comes from the replica and shows what was committed just before, whoever wrote it', async () => {
    const counted = await outcomesOf(async () => {
      for (let round = 0; round < 20; round += 1) {
        const label = `fresh ${round}`;
        await addAddress(label);
        expect(await listedLabels()).toContain(label);
      }
    });
    expect(counted.replica ?? 0).toBeGreaterThan(10);
  }, 60_000);

  it('whatever anybody committed before is in what the replica answers', async () => {
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

  it('a statement, an export and the checks come from the replica, each from one snapshot', async () => {
    const counted = await outcomesOf(async () => {
      const statement = await stack.get(`/v1/accounts/${person.accountId}/statement`, { token: person.token });
      expect([statement.status, statement.body.data.closing_balance]).toEqual([200, '1000.0000']);
      const day = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
      const journals = await stack.get(`/v1/exports/journals?day=${day}`, { token: platform.token });
      expect(journals.status).toBe(200);
      expect(JSON.stringify(journals.body)).toContain(person.accountId);
    });
    expect(counted).toEqual({ replica: 2 });
    let views = 0;
    const ofChecks = await outcomesOf(async () => {
      views = (await runChecks(product())).length;
    });
    expect(views).toBeGreaterThan(10);
    expect(ofChecks).toEqual({ replica: views });
  });

  it('signing in, permissions, balances and single resources are read from the primary', async () => {
    const id = await addAddress('mine');
    const counted = await outcomesOf(async () => {
      for (const path of ['/v1/auth/me', `/v1/addresses/${id}`, `/v1/accounts/${person.accountId}`]) {
        expect([path, (await stack.get(path, { token: person.token })).status]).toEqual([path, 200]);
      }
    });
    expect(counted).toEqual({});
    expect(await isReplica(product())).toBe(false);
  });

  it('a read within a transaction stays in it', async () => {
    const counted = await outcomesOf(() =>
      product().transactional(async (tx) => expect(await readFresh(tx, isReplica)).toBe(false)),
    );
    expect(counted).toEqual({});
  });

  it('a refusal is not asked for again on the primary', async () => {
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

  it('a read that fails on the replica is done on the primary', async () => {
    const counted = await outcomesOf(async () => {
      const read = async (reader: EntityManager) => {
        if (await isReplica(reader)) throw Object.assign(new Error('conflict with recovery'), { code: '40001' });
        return 'from the primary';
      };
      expect(await readFresh(product(), read)).toBe('from the primary');
      const parts: string[] = [];
      const inParts = async function* (reader: EntityManager) {
        yield await read(reader);
      };
      for await (const part of readInSnapshot(product(), inParts)) parts.push(part);
      expect(parts).toEqual(['from the primary']);
    });
    expect(counted).toEqual({ failed: 2 });
  });

  it('a download that fails on the replica once it has begun is not begun again', async () => {
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
  });
});

describe('A replica that does not replay', () => {
  it('is waited for a moment and then left alone: each answer is fresh, from the primary', async () => {
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

  it('catches up within the wait when it is only a moment behind', async () => {
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

describe('A replica that is away', () => {
  it('is missed by nobody, and serves again when it is back', async () => {
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

  it('holds up one read for half a second at most when it takes connections and says nothing', async () => {
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
  }, 30_000);
});

describe('DATABASE_READ_URL', () => {
  it('is refused at the start when it leads to anything but a replica, as the same role', async () => {
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

  it('is malformed when it is no database, or the very one that DATABASE_URL names', () => {
    const { DATABASE_URL, DATABASE_READ_URL } = stack.env;
    expect(readConfig(stack.env).DATABASE_READ_URL).toBe(DATABASE_READ_URL);
    const complaint = (value: string) => () => readConfig({ ...stack.env, DATABASE_READ_URL: value });
    expect(complaint('https://example.org')).toThrow(/DATABASE_READ_URL is malformed/);
    expect(complaint(String(DATABASE_URL))).toThrow(
      'DATABASE_READ_URL is malformed: names the database of DATABASE_URL',
    );
  });
});
