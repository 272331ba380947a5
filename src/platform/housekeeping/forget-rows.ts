import type { EntityManager } from '@mikro-orm/postgresql';

/** Kinds of rows that are retained for a limited time. */
export type ForgottenKind =
  | 'read_events'
  | 'callback_bodies'
  | 'webhook_bodies'
  | 'requests'
  | 'payout_tallies'
  | 'bank_account_checks'
  | 'known_logins'
  | 'token_signing_keys'
  | 'revoked_tokens'
  | 'refresh_tokens'
  | 'sign_ups'
  | 'mails'
  | 'used_signatures'
  | 'login_failures';

/**
 * Deletes rows, or bodies, of a kind that are older than `age` (an interval), up to `limit` of them; returns how many.
 * The database enforces the minimum retention of each kind.
 */
export async function forgetRows(em: EntityManager, kind: ForgottenKind, age: string, limit: number): Promise<number> {
  const [row] = await em.execute<[{ forgotten: number }]>('select forget_rows(?, ?::interval, ?) as forgotten', [
    kind,
    age,
    limit,
  ]);
  return row.forgotten;
}
