import { randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { findSealedColumns, reencrypt } from '../../src/encryption/reencrypt.ts';
import { createSealer } from '../../src/encryption/sealer.ts';
import { newId } from '../../src/shared/ids.ts';
import { buildIndividual } from '../support/build.ts';
import { type Stack, startStack } from '../support/stack.ts';

const key = (id: string) => ({ id, key: new Uint8Array(randomBytes(32)) });

describe('Re-encryption to the newest key', () => {
  let stack: Stack;
  const [old, fresh] = [key('old'), key('fresh')];
  const before = createSealer([old]);
  const after = createSealer([fresh, old]);
  beforeAll(async () => {
    stack = await startStack({ own: true });
    await stack.owner().execute('create table reencrypt_sample (id uuid primary key, secret_sealed text, other text)');
    await stack.owner().execute('grant select, update on reencrypt_sample to amanah_app');
  });
  beforeEach(() => stack.owner().execute('delete from reencrypt_sample'));
  afterAll(() => stack?.stop());

  const place = (row: string) => ({ table: 'reencrypt_sample', column: 'secret_sealed', row });

  async function plant(count: number): Promise<Map<string, string>> {
    const planted = new Map<string, string>();
    for (let index = 0; index < count; index += 1) planted.set(newId(), `secret ${index}`);
    const values = await Promise.all([...planted].map(async ([id, text]) => [id, await before.seal(place(id), text)]));
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
  // What other tables hold is sealed with the stack's own key: it is not this test's to open.
  const run = async (onProgress?: () => void) => {
    await stack.owner().execute('delete from token_signing_keys');
    const results = await reencrypt(stack.em(), {
      sealer: after,
      newestKeyId: 'fresh',
      ...(onProgress && { onProgress }),
    });
    return results.find(({ table }) => table === 'reencrypt_sample');
  };

  it('knows every sealed column by its name', async () => {
    const columns = (await findSealedColumns(stack.em())).map(({ table, column }) => `${table}.${column}`);
    expect(columns).toEqual(
      expect.arrayContaining(['token_signing_keys.private_key_sealed', 'reencrypt_sample.secret_sealed']),
    );
    const others = await stack.em().execute<{ name: string }[]>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like '%sealed%' and column_name not like '%\\_sealed'
         and table_name <> 'seals'`,
    );
    // A seal over journals hides nothing.
    expect(others).toEqual([]);
  });

  it('moves every value, over several batches, and every value still opens where it lives', async () => {
    const planted = await plant(620);
    let steps = 0;
    expect(
      await run(() => {
        steps += 1;
      }),
    ).toMatchObject({ rows: 620, moved: 620 });
    expect(steps).toBeGreaterThan(1);
    for (const { id, secret_sealed } of await rows()) {
      expect(decodeProtectedHeader(secret_sealed).kid).toBe('fresh');
      expect(await after.open(place(id), secret_sealed)).toBe(planted.get(id));
    }
  });

  it('skips what is done, so that an interrupted run can continue', async () => {
    const planted = await plant(20);
    const [first] = [...planted.keys()];
    const moved = await after.seal(place(String(first)), 'moved before');
    await stack.owner().execute('update reencrypt_sample set secret_sealed = ? where id = ?', [moved, first]);
    expect(await run()).toMatchObject({ rows: 20, moved: 19 });
    expect(await run()).toMatchObject({ rows: 20, moved: 0 });
  });

  it('never overwrites what a writer changes meanwhile', async () => {
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

  it('leaves rows without a value alone', async () => {
    const { id } = await buildIndividual(stack);
    await stack.owner().execute('insert into reencrypt_sample (id, other) values (?, ?)', [id, 'x']);
    expect(await run()).toMatchObject({ rows: 0, moved: 0 });
  });
});
