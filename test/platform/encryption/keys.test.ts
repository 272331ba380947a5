import { randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { keysUrlBeside } from '../../../dev/postgres.ts';
import { settleKeys } from '../../../src/people/identity/settle-keys.ts';
import { agreeOnKeys } from '../../../src/platform/encryption/agree-on-keys.ts';
import { createPersonalKeys } from '../../../src/platform/encryption/personal-keys.ts';
import { findSealedColumns, reencrypt } from '../../../src/platform/encryption/reencrypt.ts';
import { createSealer } from '../../../src/platform/encryption/sealer.ts';
import { newId } from '../../../src/shared/ids.ts';
import { openDatabase } from '../../../src/wiring/open-database.ts';
import { buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { cloneDatabase } from '../../support/database.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

const erased = { code: 'KEY_ERASED' };
const key = (id: string) => ({ id, key: new Uint8Array(randomBytes(32)) });

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
});
afterAll(() => stack?.stop());

describe('A person’s own key', () => {
  const agree = (checkValue: string) => agreeOnKeys(stack.deps.orm)(checkValue);
  /** Keys as another process on the same database sees them, with an empty cache. */
  const elsewhere = () =>
    createPersonalKeys(stack.deps.keysOrm, createSealer(stack.deps.config.DATA_ENCRYPTION_KEYS), agree);
  const rows = (id: string) =>
    stack.deps.keysOrm.em
      .fork()
      .execute<{ key_sealed: string | null; is_settled: boolean; erased_at: string | null }[]>(
        'select key_sealed, is_settled, erased_at from personal_keys where id = ?',
        [id],
      );
  const placeOf = (id: string) => ({
    table: 'users',
    column: 'profile_sealed',
    row: id,
    person: { id, isNew: true } as const,
  });

  it('Concurrent requests create one key for a person', async () => {
    const id = newId();
    const keys = await Promise.all([elsewhere(), elsewhere(), elsewhere()].flatMap((it) => [it.make(id), it.make(id)]));
    expect(new Set(keys.map((made) => Buffer.from(made).toString('hex'))).size).toBe(1);
    expect(Buffer.from(await elsewhere().find(id))).toEqual(Buffer.from(keys[0] ?? []));
    expect(keys[0]).toHaveLength(32);
  });

  it('A missing key never counts as destroyed, and may still be destroyed', async () => {
    const id = newId();
    await expect(elsewhere().find(id)).rejects.toMatchObject({ code: 'KEYS_AWAY' });
    expect([await elsewhere().destroy([id]), await elsewhere().destroy([id])]).toEqual([[id], []]);
    await expect(elsewhere().find(id)).rejects.toMatchObject(erased);
    await expect(elsewhere().make(id)).rejects.toMatchObject(erased);
  });

  it('A key is created only for new people; encrypting for a person whose key is missing fails', async () => {
    const id = newId();
    const sealer = createSealer(stack.deps.config.DATA_ENCRYPTION_KEYS, elsewhere());
    const later = { ...placeOf(id), person: { id } };
    await expect(sealer.seal(later, 'Siti')).rejects.toMatchObject({ name: 'KeyMissing', code: 'KEYS_AWAY' });
    expect(await rows(id)).toEqual([]);
    const first = await sealer.seal(placeOf(id), 'Siti');
    const second = await sealer.seal(later, 'Siti Rahayu');
    expect([await sealer.open(later, first), await sealer.open(later, second)]).toEqual(['Siti', 'Siti Rahayu']);
  });

  it('A key is stored encrypted under the encryption key', async () => {
    const id = newId();
    const made = await elsewhere().make(id);
    const [row] = await rows(id);
    expect(decodeProtectedHeader(row?.key_sealed ?? '').kid).toBe('test');
    expect(row?.key_sealed).not.toContain(Buffer.from(made).toString('base64'));
  });

  it('A key encrypts data about its person, and no other key decrypts it', async () => {
    const [siti, budi] = [newId(), newId()];
    const { sealer } = stack.deps;
    const sealed = await sealer.seal(placeOf(siti), 'Siti');
    expect(decodeProtectedHeader(sealed).kid).toBe(`person:${siti}`);
    expect(await sealer.open(placeOf(siti), sealed)).toBe('Siti');
    await sealer.seal(placeOf(budi), 'Budi');
    const [header = '', ...rest] = sealed.split('.');
    const forged = header && Buffer.from(JSON.stringify({ ...decodeProtectedHeader(sealed), kid: `person:${budi}` }));
    await expect(
      sealer.open(placeOf(siti), [Buffer.from(forged).toString('base64url'), ...rest].join('.')),
    ).rejects.toThrow();
    await expect(createSealer([key('test')]).open(placeOf(siti), sealed)).rejects.toThrow();
  });

  it('A destroyed key is gone for every process and never recreated', async () => {
    const id = newId();
    const [here, there] = [elsewhere(), elsewhere()];
    await here.make(id);
    expect(await there.destroy([id])).toEqual([id]);
    await expect(there.find(id)).rejects.toMatchObject(erased);
    for (const other of [there, elsewhere()]) await expect(other.make(id)).rejects.toMatchObject(erased);
    const [row] = await rows(id);
    expect(row).toMatchObject({ key_sealed: null, erased_at: expect.any(String) });
    expect(await there.destroy([id])).toEqual([]);
    expect(await there.destroy([])).toEqual([]);
    expect(await rows(id)).toEqual([row]);
    const em = stack.deps.keysOrm.em.fork();
    for (const sql of [
      'update personal_keys set erased_at = null, key_sealed = ? where id = ?',
      'delete from personal_keys where key_sealed is distinct from ? and id = ?',
    ]) {
      await expect(em.fork().execute(sql, ['x', id])).rejects.toMatchObject({ code: 'AM003' });
    }
  });

  it('Concurrent look-ups of many keys run one query, and later ones use the cache', async () => {
    const ids = Array.from({ length: 200 }, () => newId());
    const there = elsewhere();
    await Promise.all(ids.map((id) => there.make(id)));
    const em = stack.deps.keysOrm.em.fork();
    const asked: unknown[] = [];
    const execute = ((sql: string, params: unknown[]) => {
      asked.push(sql);
      return em.execute(sql, params);
    }) as typeof em.execute;
    const keys = createPersonalKeys(
      { em: { fork: () => ({ execute }) } },
      createSealer(stack.deps.config.DATA_ENCRYPTION_KEYS),
      agree,
    );
    for (let round = 0; round < 2; round += 1) await Promise.all(ids.map((id) => keys.find(id)));
    expect(asked.filter((sql) => String(sql).includes('personal_keys'))).toHaveLength(1);
  });

  it('A key can be re-encrypted under a newer encryption key without touching the data', async () => {
    const [old, fresh] = [key('old'), key('fresh')];
    const id = newId();
    const live = stack.deps.config.DATA_ENCRYPTION_KEYS;
    const keysOf = (...keys: typeof live) => createPersonalKeys(stack.deps.keysOrm, createSealer(keys), agree);
    const em = stack.deps.keysOrm.em.fork();
    await em.execute('delete from personal_keys where not is_settled');
    const before = createSealer([old], keysOf(old, ...live));
    const sealed = await before.seal(placeOf(id), 'Siti');
    await reencrypt(em, { sealer: createSealer([fresh, old, ...live]), newestKeyId: 'fresh' });
    const after = createSealer([fresh], keysOf(fresh));
    expect(await after.open(placeOf(id), sealed)).toBe('Siti');
    await em.execute('delete from personal_keys where id = ?', [id]);
    await reencrypt(em, { sealer: createSealer([...live, fresh]), newestKeyId: 'test' });
  });

  it('Keys of another deployment are not read, created or destroyed', async () => {
    const other = await cloneDatabase();
    try {
      const keys = await openDatabase({ url: other.keysUrl, poolSize: 2 });
      const strange = createPersonalKeys(keys, createSealer(stack.deps.config.DATA_ENCRYPTION_KEYS), agree);
      await elsewhere().lookUpKey();
      const id = newId();
      for (const use of [strange.make(id), strange.find(id), strange.destroy([id]), strange.lookUpKey()]) {
        await expect(use).rejects.toMatchObject({
          code: 'KEYS_AWAY',
          message: expect.stringContaining('KEYS_DATABASE_URL does not have the keys'),
        });
      }
      expect(await keys.em.fork().execute('select * from personal_keys')).toEqual([]);
      await keys.close(true);
    } finally {
      await other.drop();
    }
  });

  it('Keys are not read, created or destroyed while connections lead to another database', async () => {
    const other = await cloneDatabase();
    try {
      const keys = await openDatabase({ url: other.keysUrl, poolSize: 2 });
      const right = stack.deps.keysOrm.em.fork();
      const wrong = keys.em.fork();
      let leadsTo = right;
      const execute = ((sql: string, params: unknown[]) => leadsTo.execute(sql, params)) as typeof right.execute;
      const sealer = createSealer(stack.deps.config.DATA_ENCRYPTION_KEYS);
      const there = createPersonalKeys({ em: { fork: () => ({ execute }) } }, sealer, agree);
      const [id, order, later] = [newId(), newId(), newId()];
      const key = Buffer.from(await there.make(id));
      await there.orders.make(order);
      // Cached keys are valid wherever connections lead; others are queried.
      const [fresh, lost] = [newId(), newId()];
      leadsTo = wrong;
      for (const use of [
        there.make(later),
        there.find(fresh),
        there.orders.make(later),
        there.orders.find(lost),
        there.destroy([id]),
        there.destroyOrders(async () => [], { days: 1, limit: 1 }),
        there.settle(async () => [], 1),
        there.listErased().next(),
        there.ping(),
      ]) {
        await expect(use).rejects.toMatchObject({ code: 'KEYS_AWAY' });
      }
      for (const table of ['personal_keys', 'order_keys'])
        expect(await wrong.execute(`select * from ${table}`)).toEqual([]);
      leadsTo = right;
      expect(Buffer.from(await elsewhere().find(id))).toEqual(key);
      await there.make(later);
      expect(Buffer.from(await there.find(id))).toEqual(key);
      await keys.close(true);
    } finally {
      await other.drop();
    }
  });

  it('Unused keys and keys of deleted invitees are deleted once overdue, and all others stay', async () => {
    const user = await buildIndividual(stack);
    const { token } = await buildPlatformAdmin(stack);
    const invite = async () => {
      const invitation = { email: `${newId()}@example.org`, name: 'Ani', user_type: 'individual' };
      return (await stack.post('/v1/users/invitations', invitation, { token })).body.data.user.id as string;
    };
    const [invited, gone] = [await invite(), await invite()];
    const overdue = (ids: string[]) =>
      withClient(keysUrlBeside(stack.databaseUrls.owner), (client) =>
        client.query("update personal_keys set look_after = now() - interval '1 hour' where id = any($1)", [ids]),
      );
    const [young, orphan] = [newId(), newId()];
    for (const id of [young, orphan]) await stack.deps.personalKeys.make(id);
    await overdue([user.id, orphan, invited, gone]);
    expect(await settleKeys(stack.em(), stack.deps.personalKeys)).toBe(4);
    expect(await settleKeys(stack.em(), stack.deps.personalKeys)).toBe(0);
    expect(await rows(gone)).toMatchObject([{ is_settled: false }]);
    expect((await stack.delete(`/v1/users/invitations/${gone}`, undefined, { token })).status).toBe(200);
    await overdue([invited, gone]);
    expect(await settleKeys(stack.em(), stack.deps.personalKeys)).toBe(2);
    expect(await rows(gone)).toEqual([]);
    expect(await rows(invited)).toMatchObject([{ is_settled: false }]);
    expect(await rows(orphan)).toEqual([]);
    expect(await rows(user.id)).toMatchObject([{ is_settled: true, erased_at: null }]);
    expect(await rows(young)).toMatchObject([{ is_settled: false }]);
  });
});

describe('Re-encryption to the newest key', () => {
  const [old, fresh] = [key('old'), key('fresh')];
  const before = createSealer([old]);
  const after = createSealer([fresh, old]);
  beforeAll(async () => {
    await stack.owner().execute('create table reencrypt_sample (id uuid primary key, secret_sealed text, other text)');
    await stack.owner().execute('grant select, update on reencrypt_sample to amanah_app');
  });
  beforeEach(() => stack.owner().execute('delete from reencrypt_sample'));

  const place = (row: string) => ({ table: 'reencrypt_sample', column: 'secret_sealed', row });

  /** Inserts values under the old key, except `movedBefore` of them after the first ten, which have the new key. */
  async function plant(count: number, movedBefore = 0): Promise<Map<string, string>> {
    const planted = new Map<string, string>();
    for (let index = 0; index < count; index += 1) planted.set(newId(), `secret ${index}`);
    const sealerOf = (index: number) => (index >= 10 && index < 10 + movedBefore ? after : before);
    const values = await Promise.all(
      [...planted].map(async ([id, text], index) => [id, await sealerOf(index).seal(place(id), text)]),
    );
    await stack
      .owner()
      .execute(
        `insert into reencrypt_sample (id, secret_sealed) values ${values.map(() => '(?, ?)').join(', ')}`,
        values.flat(),
      );
    return planted;
  }
  const rows = () =>
    stack.em().execute<{ id: string; secret_sealed: string }[]>('select id, secret_sealed from reencrypt_sample');
  // Other tables are encrypted with the stack's own key, which this test cannot decrypt.
  const run = async (onProgress?: () => void) => {
    await stack.owner().execute('delete from token_signing_keys');
    const results = await reencrypt(stack.em(), {
      sealer: after,
      newestKeyId: 'fresh',
      ...(onProgress && { onProgress }),
    });
    return results.find(({ table }) => table === 'reencrypt_sample');
  };

  it('Re-encryption finds every encrypted column by its name', async () => {
    const columns = (await findSealedColumns(stack.em())).map(({ table, column }) => `${table}.${column}`);
    expect(columns).toEqual(
      expect.arrayContaining(['token_signing_keys.private_key_sealed', 'reencrypt_sample.secret_sealed']),
    );
    const others = await stack.em().execute<{ name: string }[]>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like '%sealed%' and column_name not like '%\\_sealed'
         and table_name <> 'seals'`,
    );
    // A seal over journals encrypts nothing.
    expect(others).toEqual([]);
  });

  it('Re-encryption moves every value, over several batches, and every value still decrypts in its place', async () => {
    const movedBefore = isFullRun() ? 0 : 590;
    const planted = await plant(620, movedBefore);
    let steps = 0;
    expect(
      await run(() => {
        steps += 1;
      }),
    ).toMatchObject({ rows: 620, moved: 620 - movedBefore });
    expect(steps).toBeGreaterThan(1);
    for (const { id, secret_sealed } of await rows()) {
      expect(decodeProtectedHeader(secret_sealed).kid).toBe('fresh');
      expect(await after.open(place(id), secret_sealed)).toBe(planted.get(id));
    }
  });

  it('Re-encryption skips finished rows, so that an interrupted run can continue', async () => {
    const planted = await plant(20);
    const [first] = [...planted.keys()];
    const moved = await after.seal(place(String(first)), 'moved before');
    await stack.owner().execute('update reencrypt_sample set secret_sealed = ? where id = ?', [moved, first]);
    expect(await run()).toMatchObject({ rows: 20, moved: 19 });
    expect(await run()).toMatchObject({ rows: 20, moved: 0 });
  });

  it('Re-encryption never overwrites a concurrent change', async () => {
    const planted = await plant(50);
    const ids = [...planted.keys()];
    const write = async () => {
      for (const id of ids) {
        const sealed = await after.seal(place(id), 'written meanwhile');
        await stack.owner().execute('update reencrypt_sample set secret_sealed = ? where id = ?', [sealed, id]);
      }
    };
    await Promise.all([run(), write()]);
    for (const { id, secret_sealed } of await rows()) {
      expect(await after.open(place(id), secret_sealed)).toBe('written meanwhile');
    }
  });

  it('Re-encryption skips rows without a value', async () => {
    const { id } = await buildIndividual(stack);
    await stack.owner().execute('insert into reencrypt_sample (id, other) values (?, ?)', [id, 'x']);
    expect(await run()).toMatchObject({ rows: 0, moved: 0 });
  });
});
