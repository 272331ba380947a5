import type { EntityManager } from '@mikro-orm/postgresql';

/** What is kept for a time only. */
export type ForgottenKind =
  | 'read_events'
  | 'idempotency_keys'
  | 'refused_balance_payments'
  | 'openings'
  | 'known_logins'
  | 'token_signing_keys'
  | 'revoked_tokens'
  | 'sign_ups'
  | 'login_failures';

/**
 * Forgets rows of a kind that are older than `age` (an interval), up to `limit` of them; returns how many. The database
 * knows how long each kind is kept at least, and refuses to forget sooner, whoever asks.
 */
export async function forgetRows(em: EntityManager, kind: ForgottenKind, age: string, limit: number): Promise<number> {
  const [row] = await em.execute<[{ forgotten: number }]>('select forget_rows(?, ?::interval, ?) as forgotten', [
    kind,
    age,
    limit,
  ]);
  return row.forgotten;
}
