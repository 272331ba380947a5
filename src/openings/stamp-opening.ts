import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import type { OpeningStamp } from './opening.ts';

/**
 * Stamps a request; called when it arrives, before it waits for its turn or reads what it is judged by. `livesMs` is for
 * a request without a key: nobody joins what it has begun once it is answered, so it lives no longer than it waits.
 */
export async function stampOpening(
  em: EntityManager,
  options: Pick<OpeningStamp, 'livesMs'> = {},
): Promise<OpeningStamp> {
  const [row] = await em.execute<{ number: string; asked_at: string }[]>(
    `select nextval('opening_numbers')::text as number, to_json(clock_timestamp()) #>> '{}' as asked_at`,
  );
  const { number, asked_at: askedAt } = must(row, 'a select without a table has a row');
  return { number, askedAt, ...options };
}
