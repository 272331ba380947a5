import type { MikroORM } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { ConfigError } from '../../shared/errors.ts';

/** `KEYS_DATABASE_URL` points to keys that no row here uses. */
export class OtherKeys extends ConfigError {
  /** For a step, the keys are down: it is retried. */
  readonly code = 'KEYS_AWAY';
}

/**
 * The main database and the database of the keys belong together: the first says by a check value which keys its people
 * are sealed under, from the first use on. What is returned throws OtherKeys for any other.
 */
export const agreeOnKeys =
  (main: Pick<MikroORM, 'em'>) =>
  async (checkValue: string): Promise<void> => {
    const em = main.em.fork();
    const find = async () => {
      const [row] = await em.execute<{ key_check_value: string }[]>('select key_check_value from keys_databases');
      return row?.key_check_value;
    };
    let expected = await find();
    if (expected === undefined) {
      await em.execute('insert into keys_databases (key_check_value) values (?) on conflict do nothing', [checkValue]);
      expected = must(await find(), 'it was just written');
    }
    if (expected === checkValue) return;
    throw new OtherKeys(
      'KEYS_DATABASE_URL names other keys than those under which the people in DATABASE_URL are sealed: one of the two ' +
        'belongs to another deployment, or the database of the keys was made anew instead of being restored.',
    );
  };
