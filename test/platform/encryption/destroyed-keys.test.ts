import { keysUrlBeside } from '../../../dev/postgres.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

let stack: Stack;
beforeAll(async () => {
  // Where keys land on their pages depends on all rows of the table.
  stack = await startStack({ own: true });
}, 60_000);
afterAll(() => stack?.stop());

/** Runs SQL as a superuser of the keys database. */
const inKeys = (sql: string, params: unknown[] = []) =>
  withClient(
    keysUrlBeside(String(stack.owner().config.get('clientUrl'))),
    async (client) => (await client.query(sql, params)).rows,
  );
/** Reads the file of a table, as an attacker who copies the disk finds it. */
async function fileOf(table: string): Promise<Buffer> {
  await inKeys('checkpoint');
  const [{ file }] = await inKeys(`select pg_read_binary_file(pg_relation_filepath('${table}')) as file`);
  return file;
}
/** Returns the first characters of a key's ciphertext, which suffice to identify it. */
const ciphertextOf = (sealed: string) => must(sealed.split('.')[3], 'a sealed text has five parts').slice(0, 24);

describe('A key that was destroyed', () => {
  it.each(['personal_keys', 'order_keys'] as const)(
    'A destroyed key is gone from the file of %s after vacuum, wherever it was stored there',
    async (table) => {
      const { personalKeys } = stack.deps;
      const ids = Array.from({ length: 100 }, () => newId());
      for (const id of ids) await (table === 'personal_keys' ? personalKeys : personalKeys.orders).make(id);
      const rows = await inKeys(`select id, key_sealed from ${table} where id = any($1) order by ctid`, [ids]);
      const sealed = rows.map(({ key_sealed }) => ciphertextOf(key_sealed));
      // Some of these are among others, some adjacent to each other, and one is the last of all.
      const chosen = [3, 40, 41, 42, 77, 99];
      const gone = chosen.map((at) => rows[at].id);
      if (table === 'personal_keys') await personalKeys.destroy(gone);
      else {
        await inKeys("update order_keys set kept_since = now() - interval '2 days' where id = any($1)", [gone]);
        await inKeys('vacuum order_keys');
        await personalKeys.destroyOrders(async () => [], { days: 1, limit: 100 });
      }
      const left = await eventually(
        async () => {
          // Autovacuum hardly ever runs in tests. Vacuum skips rows that another transaction may still see.
          await inKeys(`vacuum ${table}`);
          const file = await fileOf(table);
          return sealed.flatMap((text, at) => (file.includes(text) ? [at] : []));
        },
        (found) => !chosen.some((at) => found.includes(at)),
        60_000,
      );
      expect(left).toEqual(sealed.map((_, at) => at).filter((at) => !chosen.includes(at)));
    },
    90_000,
  );

  it.each(['personal_keys', 'order_keys'])('Autovacuum of %s starts at the first dead row', async (table) => {
    const [{ options }] = await inKeys(`select reloptions as options from pg_class where oid = '${table}'::regclass`);
    expect(options).toEqual(
      expect.arrayContaining(['autovacuum_vacuum_threshold=0', 'autovacuum_vacuum_scale_factor=0']),
    );
  });
});
