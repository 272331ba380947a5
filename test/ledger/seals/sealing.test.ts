import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openAccount } from '../../../src/ledger/accounts/open-account.ts';
import { makeSeal } from '../../../src/ledger/seals/make-seal.ts';
import { measureSeals } from '../../../src/ledger/seals/measure-seals.ts';
import { createSealKeys } from '../../../src/ledger/seals/seal-keys.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { openStorage } from '../../../src/platform/storage/storage.ts';
import { must } from '../../../src/shared/assert.ts';
import { armFailpoints } from '../../../src/shared/failpoint.ts';
import { newId } from '../../../src/shared/ids.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { countSeals, expectIntact, post, postLate, postMany, sealAll, sealOf, verify } from './build-seals.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, isImpatient: true, env: { LOG_LEVEL: 'silent' } });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  armFailpoints(undefined);
});

const parts = () => ({ storage: stack.deps.storage, keys: stack.deps.sealKeys });

describe('A platform without seals', () => {
  it('Seal metrics on a new platform start with its first event', async () => {
    await stack.em().execute(
      `insert into events (id, event, impact, resource_type, created_at)
       values (uuidv7(interval '-3 days'), 'RESOURCE_CREATED', 'LOW', 'user', now() - interval '3 days')`,
    );
    const metrics = createMetrics({ defaults: false });
    measureSeals(metrics, stack.deps.orm);
    const [, since] = /^amanah_sealed_until_timestamp_seconds (\S+)$/m.exec(await metrics.registry.metrics()) ?? [];
    expect((Date.now() / 1000 - Number(since)) / 86_400).toBeCloseTo(3, 2);
  });

  itInFull('Concurrent activities that make the first seal start one chain', async () => {
    await postMany(stack, 3);
    armFailpoints('make-seal.before-row=delay');
    await Promise.all([sealAll(stack), sealAll(stack)]);
    await expectIntact(stack);
  });
});

describe('A sealing run', () => {
  it('A sealing run seals every journal once, in consecutive parts', async () => {
    const journals = await postMany(stack, 7);
    const before = await countSeals(stack);
    const steps = await sealAll(stack, { size: 3 });
    expect(steps.map(({ journals: count, done }) => [count, done])).toEqual([
      [3, false],
      [3, false],
      [1, true],
    ]);
    expect(steps.map(({ number }) => number)).toEqual([before + 1, before + 2, before + 3]);
    for (const id of journals) expect(await sealOf(stack, id)).not.toBeNull();
    expect((await expectIntact(stack)).unsealed).toBe(0);
  });

  it('A sealing run includes the journal with the smallest possible id', async () => {
    const least = '00000000-0000-0000-0000-000000000000';
    const accountId = await openAccount(stack.owner(), { kind: 'user', name: 'Pocket' });
    await stack
      .owner()
      .execute("select write_journal(?, 'test/least', 'test.sealed', ?::uuid[], '{-1,1}')", [
        least,
        `{${systemAccounts.gatewayClearing},${accountId}}`,
      ]);
    await sealAll(stack);
    expect(await sealOf(stack, least)).not.toBeNull();
    expect((await expectIntact(stack)).unsealed).toBe(0);
  });

  it('A sealing run without journals creates an empty seal', async () => {
    await sealAll(stack);
    const before = await countSeals(stack);
    expect(await sealAll(stack)).toMatchObject([{ number: before + 1, journals: 0, done: true }]);
    await expectIntact(stack);
  });

  it('A sealing run’s last seal states that everything before its first snapshot is sealed', async () => {
    await postMany(stack, 5);
    const steps = await sealAll(stack, { size: 2 });
    const rows = await stack.em().execute<{ covers: boolean; first: boolean }[]>(
      `select covers_until is not null as covers, covers_until = (select sealed_at from seals where number = ?) as first
       from seals where number >= ? order by number`,
      [steps[0]?.number, steps[0]?.number],
    );
    expect(rows).toEqual([
      { covers: false, first: null },
      { covers: false, first: null },
      { covers: true, first: true },
    ]);
  });
});

describe('Journals that commit late', () => {
  it('A journal that commits late is in the next seal, even if dated before the last one', async () => {
    const late = await postLate(stack);
    const journal = late.id;
    const [early] = await postMany(stack, 1);
    await sealAll(stack);
    expect([await sealOf(stack, journal), await sealOf(stack, early ?? '')]).toEqual([null, await countSeals(stack)]);
    await late.commit();
    const sealed = await countSeals(stack);
    await sealAll(stack);
    expect(await sealOf(stack, journal)).toBe(sealed + 1);
    await expectIntact(stack);
  });

  it('A journal that commits during a sealing run is sealed once, by that run or the next', async () => {
    await postMany(stack, 4);
    const pass = newId();
    const late = await Promise.all(Array.from({ length: 6 }, () => postLate(stack)));
    let { done } = await makeSeal(stack.em(), { ...parts(), size: 2 }, pass);
    for (const { commit } of late) await commit();
    while (!done) ({ done } = await makeSeal(stack.em(), { ...parts(), size: 2 }, pass));
    await sealAll(stack);
    for (const { id } of late) expect(await sealOf(stack, id)).not.toBeNull();
    await expectIntact(stack);
  });

  it('Journals of many writers are each sealed exactly once by concurrent runs', async () => {
    const [writers, journals, passes] = isFullRun() ? [8, 15, 4] : [6, 5, 2];
    const writing = Array.from({ length: writers }, async () => {
      const ids: string[] = [];
      for (let index = 0; index < journals; index += 1) {
        const em = stack.owner();
        await em.begin();
        ids.push(await post(em));
        if (index % 5 === 4) {
          await em.rollback();
          ids.pop();
        } else await em.commit();
      }
      return ids;
    });
    const sealing = [1, 2, 3].map(async () => {
      for (let index = 0; index < passes; index += 1) await sealAll(stack, { size: 7 });
    });
    const written = (await Promise.all(writing)).flat();
    await Promise.all(sealing);
    await sealAll(stack);
    for (const id of written) expect(await sealOf(stack, id)).not.toBeNull();
    const verdict = await expectIntact(stack);
    const [{ count }] = await stack.em().execute<[{ count: string }]>('select count(*) from journals');
    expect([verdict.unsealed, verdict.journals]).toEqual([0, Number(count)]);
  });
});

describe('Concurrent sealing activities', () => {
  itInFull('Concurrent activities of one run make one seal', async () => {
    await postMany(stack, 3);
    const before = await countSeals(stack);
    armFailpoints('make-seal.before-row=delay');
    const pass = newId();
    const steps = await Promise.all([1, 2, 3].map(() => makeSeal(stack.em(), parts(), pass)));
    expect(steps.filter(({ number }) => number !== null)).toHaveLength(1);
    expect(await countSeals(stack)).toBe(before + 1);
    await expectIntact(stack);
  });
});

describe('A failing sealing activity', () => {
  it.each(['before-row', 'before-object', 'after-object'])(
    'A sealing activity that fails at %s and is retried makes one seal',
    async (point) => {
      const [journal] = await postMany(stack, 1);
      const before = await countSeals(stack);
      const pass = newId();
      armFailpoints(`make-seal.${point}=throw`);
      await expect(makeSeal(stack.em(), parts(), pass)).rejects.toThrow('failpoint');
      armFailpoints(undefined);
      await makeSeal(stack.em(), parts(), pass);
      expect([await countSeals(stack), await sealOf(stack, journal ?? '')]).toEqual([before + 1, before + 1]);
      await expectIntact(stack);
    },
  );

  it('A seal whose object was not stored is completed by the next run and not reported', async () => {
    await postMany(stack, 1);
    armFailpoints('make-seal.before-object=throw');
    await expect(makeSeal(stack.em(), parts(), newId())).rejects.toThrow('failpoint');
    armFailpoints(undefined);
    const number = await countSeals(stack);
    expect(await verify(stack)).toMatchObject({ differences: 0, beingStored: number });
    await sealAll(stack);
    await expectIntact(stack);
  });

  it('Sealing fails while the file store is down, and a retry completes the same seal', async () => {
    await postMany(stack, 2);
    const before = await countSeals(stack);
    const away = openStorage(readConfig({ ...stack.env, S3_ENDPOINT: 'http://127.0.0.1:1' }));
    // Only writes to the store fail.
    const storage = { ...stack.deps.storage, put: away.put };
    const pass = newId();
    for (let index = 0; index < 3; index += 1) {
      const failing = makeSeal(stack.em(), { ...parts(), storage }, pass);
      await expect(failing).rejects.toThrow('the file store is down');
    }
    expect(await countSeals(stack)).toBe(before + 1);
    expect(await makeSeal(stack.em(), parts(), pass)).toMatchObject({ number: null, done: true });
    await expectIntact(stack);
  });
});

describe('Seal metrics', () => {
  it('Seal metrics report until when all is sealed and when the last seal was created', async () => {
    const metrics = createMetrics({ defaults: false });
    measureSeals(metrics, stack.deps.orm);
    const read = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.registry.metrics())?.[1]);
    const pass = newId();
    await postMany(stack, 2);
    const first = await makeSeal(stack.em(), { ...parts(), size: 1 }, pass);
    const [row] = await stack
      .em()
      .execute<{ at: string }[]>('select extract(epoch from sealed_at)::text as at from seals where number = ?', [
        first.number,
      ]);
    const sealedAt = Number(must(row, 'the run has a first seal').at);
    expect(await read('amanah_last_seal_timestamp_seconds')).toBeCloseTo(sealedAt, 2);
    // Until the last seal of this run, the previous run counts.
    expect(await read('amanah_sealed_until_timestamp_seconds')).toBeLessThan(sealedAt - 0.001);
    let { done } = first;
    while (!done) ({ done } = await makeSeal(stack.em(), { ...parts(), size: 1 }, pass));
    expect(await read('amanah_sealed_until_timestamp_seconds')).toBeCloseTo(sealedAt, 2);
    expect(await read('amanah_last_seal_timestamp_seconds')).toBeGreaterThan(sealedAt);
  });
});

describe('Immutable seals', () => {
  it.each([
    "update seals set pass = 'mine'",
    'delete from seals',
    'truncate seals cascade',
    'update seal_journals set seal_number = 1',
    'delete from seal_journals',
    'truncate seal_journals',
  ])('A change of seals or their contents is refused: %s', async (sql) => {
    await postMany(stack, 1);
    await sealAll(stack);
    await expect(stack.owner().execute(sql)).rejects.toMatchObject({ code: 'AM003' });
  });

  it('Seals never skip a number or contain a journal twice', async () => {
    const [journal] = await postMany(stack, 1);
    await sealAll(stack);
    const next = (await countSeals(stack)) + 2;
    const gap = "insert into seals (number, hash, jws, pass, sealed_at) values (?, 'x', 'x', 'x', now())";
    await expect(stack.owner().execute(gap, [next])).rejects.toMatchObject({ code: '23503' });
    const again = 'insert into seal_journals (journal_id, seal_number) values (?, 1)';
    await expect(stack.owner().execute(again, [journal])).rejects.toMatchObject({ code: '23505' });
  });

  it('A process without the sealing key never seals', async () => {
    await postMany(stack, 1);
    const before = await countSeals(stack);
    const known = stack.deps.sealKeys.publicKeys.map(({ id, publicKey }) => `${id}:${publicKey}`).join();
    const keyless = { ...stack.env, SEAL_SIGNING_KEY: '', SEAL_VERIFICATION_KEYS: known };
    const keys = createSealKeys(readConfig(keyless));
    await expect(makeSeal(stack.em(), { ...parts(), keys }, newId())).rejects.toThrow('SEAL_SIGNING_KEY is missing');
    expect(await countSeals(stack)).toBe(before);
  });
});
