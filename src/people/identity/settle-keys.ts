import type { EntityManager } from '@mikro-orm/postgresql';
import type { KeptPerson, PersonalKeys } from '../../platform/encryption/personal-keys.ts';
import { textArray } from '../../shared/postgres.ts';

/** Keys per round, and maximum rounds per run; the next run continues. */
const round = 1000;
const mostRounds = 10;

/**
 * Deletes the keys of people who were never stored, or whose invitation was withdrawn; returns how many keys it
 * examined. Throws KeysAway.
 */
export async function settleKeys(em: EntityManager, personalKeys: Pick<PersonalKeys, 'settle'>): Promise<number> {
  const find = (ids: readonly string[]) =>
    em.execute<KeptPerson[]>("select id, status <> 'invited' as stays from users where id = any(?::uuid[])", [
      textArray(ids),
    ]);
  let looked = 0;
  for (let rounds = 0; rounds < mostRounds; rounds += 1) {
    const found = await personalKeys.settle(find, round);
    looked += found;
    if (found < round) break;
  }
  return looked;
}
