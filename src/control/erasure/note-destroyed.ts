import type { EntityManager } from '@mikro-orm/postgresql';
import { KeysAway } from '../../platform/encryption/own-keys.ts';
import type { PersonalKeys } from '../../platform/encryption/personal-keys.ts';
import { textArray } from '../../shared/postgres.ts';

/**
 * Dates erasures by the last destruction of the key, as a key that a restore brought back is in newer backups. The time
 * is stored with the destruction itself, so a crash cannot lose it. Throws KeysAway if a key that the caller has
 * destroyed exists again.
 */
export async function noteDestroyed(
  em: EntityManager,
  personalKeys: Pick<PersonalKeys, 'destroyedAt'>,
  ids: readonly string[],
): Promise<void> {
  const destroyed = await personalKeys.destroyedAt(ids);
  if (destroyed.length < new Set(ids).size) throw new KeysAway('a destroyed key exists again');
  await em.execute(
    `update erasures e set erased_at = k.erased_at from unnest(?::uuid[], ?::timestamptz[]) k (user_id, erased_at)
     where e.user_id = k.user_id and e.status = 'erased' and e.erased_at < k.erased_at`,
    [textArray(destroyed.map(({ id }) => id)), textArray(destroyed.map(({ erased_at }) => erased_at))],
  );
}
