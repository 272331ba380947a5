import { createHmac, timingSafeEqual } from 'node:crypto';

const hexDigest = /^[0-9a-f]{64}$/i;
const noSignature = Buffer.alloc(32);

/** The signature of a body: hex HMAC-SHA256 of its bytes, keyed by the signing secret's text. */
export function signBody(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * Whether `signature` (hex of either case) is the one of exactly these bytes. The same work is done and the same time
 * is taken for a signature that is missing, malformed or wrong.
 */
export function isSignatureOf(secret: string, body: Uint8Array, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest();
  const wellFormed = hexDigest.test(signature);
  const given = wellFormed ? Buffer.from(signature, 'hex') : noSignature;
  return timingSafeEqual(expected, given) && wellFormed;
}
