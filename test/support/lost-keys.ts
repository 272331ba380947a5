import type { EntityManager } from '@mikro-orm/postgresql';
import { keysUrlBeside } from '../../dev/postgres.ts';
import { createPersonalKeys } from '../../src/platform/encryption/personal-keys.ts';
import { createSealer, type Sealer } from '../../src/platform/encryption/sealer.ts';
import type { Dependencies } from '../../src/wiring/dependencies.ts';
import { withClient } from './with-client.ts';

const inKeys = (
  place: { owner(): EntityManager },
  sql: string,
  params: unknown[],
): Promise<Record<string, unknown>[]> =>
  withClient(keysUrlBeside(String(place.owner().config.get('clientUrl'))), async (client) => {
    await client.query("set session_replication_role = 'replica'");
    return (await client.query(sql, params)).rows;
  });

/**
 * Removes the key of an order or a person, as a failover of the key database to a lagging server does; returns a
 * function that restores it.
 */
export async function loseKey(
  place: { owner(): EntityManager },
  id: string,
  table: 'order_keys' | 'personal_keys' = 'order_keys',
): Promise<() => Promise<unknown>> {
  const [lost] = await inKeys(place, `delete from ${table} where id = $1 returning *`, [id]);
  if (lost === undefined) throw new Error(`${id} has no key`);
  const insert = `insert into ${table} select * from json_populate_record(null::${table}, $1)`;
  return () => inKeys(place, insert, [JSON.stringify(lost)]);
}

/**
 * Replaces the key of an order by another, as happens when a request is retried on a lagging server; returns a function
 * that restores the first.
 */
export async function replaceKey(
  place: { owner(): EntityManager; deps: Pick<Dependencies, 'config' | 'keysOrm'> },
  id: string,
): Promise<() => Promise<unknown>> {
  const giveBack = await loseKey(place, id);
  const row = { table: 'payouts', column: 'texts_sealed', row: id, order: { id, isNew: true } } as const;
  await sealerElsewhere(place.deps).seal(row, 'of the retried request');
  return async () => {
    await loseKey(place, id);
    await giveBack();
  };
}

/** A sealer with an empty key cache, as in another process. */
export function sealerElsewhere({ config, keysOrm }: Pick<Dependencies, 'config' | 'keysOrm'>): Sealer {
  const keys = config.DATA_ENCRYPTION_KEYS;
  return createSealer(
    keys,
    createPersonalKeys(keysOrm, createSealer(keys), async () => undefined),
  );
}
