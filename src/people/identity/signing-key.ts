import type { JWK } from 'jose';

/** A key that signs access tokens, as stored. */
export interface SigningKeyRow {
  id: string;
  public_jwk: JWK;
  private_key_sealed: string;
  /** When a retired key stops being published; null for the current one. */
  published_until: Date | string | null;
}

/**
 * How long a retired key stays published after its last token has expired, for processes that have not seen its
 * successor.
 */
export const retirementGraceSeconds = 60;

/** A running process looks for a new key at least this often. */
export const signingKeysMaxAgeMs = 5000;
