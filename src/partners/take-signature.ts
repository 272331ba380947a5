import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';

/**
 * Takes a right signature over a whole request, once: what changes something without an idempotency key happens once for
 * each, whoever has recorded it. Throws AUTH_INVALID_CREDENTIALS for one that was used (docs/contract.md 8).
 */
export async function takeSignature(em: EntityManager, signature: string): Promise<void> {
  // Its digest tells the time that it names, too. Upper and lower case are the same signature.
  const digest = signature.slice(-64).toLowerCase();
  const taken = await em.execute<unknown[]>(
    'insert into used_signatures (digest) values (?) on conflict do nothing returning 1',
    [digest],
  );
  if (taken.length > 0) return;
  refuse(
    'AUTH_INVALID_CREDENTIALS',
    'This x-partner-signature-v2 was used before: sign the request anew, with a later time',
  );
}
