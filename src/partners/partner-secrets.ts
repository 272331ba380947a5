import { randomBytes } from 'node:crypto';
import type { Place } from '../platform/encryption/sealer.ts';

const random = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

/** A fresh API key; only its hash is ever stored. */
export const newApiKey = (): string => random('amk');

/** A fresh signing secret: the HMAC is keyed by this text. */
export const newSigningSecret = (): string => random('ams');

/** A fresh webhook secret as Standard Webhooks write it: `whsec_` and base64 of 32 bytes. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const shownCharacters = 12;

/** The part of an API key that may be shown, so that people can tell keys apart. */
export const prefixOf = (apiKey: string): string => apiKey.slice(0, shownCharacters);

/** The place of a key's sealed signing secret. */
export const signingSecretPlace = (keyId: string): Place => ({
  table: 'partner_keys',
  column: 'signing_secret_sealed',
  row: keyId,
});
