import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import type { OpeningStamp } from '../../shared/opening.ts';

/** The row of `stamping`. */
export interface Stamping {
  number: string;
  asked_at: string;
}

/** The select, of one row, that stamps a request. */
export const stamping = `select nextval('opening_numbers')::text as number,
  to_json(clock_timestamp()) #>> '{}' as asked_at`;

export const stampOf = ({ number, asked_at: askedAt }: Stamping): OpeningStamp => ({ number, askedAt });

/**
 * Stamps a request; called when it arrives, before it waits for its turn or reads what it is judged by. `livesMs` is for
 * a request without a key: nobody joins what it has begun once it is answered, so it lives no longer than it waits.
 */
export async function stampOpening(
  em: EntityManager,
  options: Pick<OpeningStamp, 'livesMs'> = {},
): Promise<OpeningStamp> {
  const [row] = await em.execute<Stamping[]>(stamping);
  return { ...stampOf(must(row, 'a select without a table has a row')), ...options };
}
