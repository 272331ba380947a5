import type { MikroORM } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { ConfigError } from '../../shared/errors.ts';

/** `KEYS_DATABASE_URL` points to keys that no row here uses. */
export class OtherKeys extends ConfigError {
  /** Steps treat the error like unreachable keys and are retried. */
  readonly code = 'KEYS_AWAY';
}

/**
 * The main database and the keys database belong together: from the first use on, the main database stores a check
 * value of its keys. The returned function throws OtherKeys for any other keys.
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
      expected = must(await find(), 'the check value was just inserted');
    }
    if (expected === checkValue) return;
    throw new OtherKeys(
      'KEYS_DATABASE_URL does not have the keys that sealed the people in DATABASE_URL: one of the ' +
        'two belongs to another deployment, or the keys database was created anew instead of restored.',
    );
  };
