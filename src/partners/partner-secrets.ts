import { randomBytes } from 'node:crypto';
import type { Place } from '../platform/encryption/sealer.ts';

const random = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

/** A new API key; only its hash is stored. */
export const newApiKey = (): string => random('amk');

/** A new signing secret: its text is the HMAC key. */
export const newSigningSecret = (): string => random('ams');

/** A new webhook secret in the format of Standard Webhooks: `whsec_` and base64 of 32 bytes. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const shownCharacters = 12;

/** The part of an API key that may be shown, so that people can recognize it. */
export const prefixOf = (apiKey: string): string => apiKey.slice(0, shownCharacters);

/** Where a key's signing secret is sealed. */
export const signingSecretPlace = (keyId: string): Place => ({
  table: 'partner_keys',
  column: 'signing_secret_sealed',
  row: keyId,
});
