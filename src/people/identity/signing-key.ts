import type { JWK } from 'jose';

/** A key that signs access tokens, as the database keeps it. */
export interface SigningKeyRow {
  id: string;
  public_jwk: JWK;
  private_key_sealed: string;
  /** Until when a retired key is published; null for the one that signs. */
  published_until: Date | string | null;
}

/**
 * A retired key stays published this much longer than its last token, for processes that had not seen its successor.
 */
export const retirementGraceSeconds = 60;

/** A running process looks for a new key at least this often. */
export const signingKeysMaxAgeMs = 5000;
