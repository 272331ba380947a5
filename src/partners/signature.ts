import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How far a second signature's time may be from the server's clock, in seconds, either way. */
export const signatureToleranceSeconds = 300;

const signedAt = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/i;
const hexDigest = /^[0-9a-f]{64}$/i;
const noSignature = Buffer.alloc(32);

/** Whether a text has the form of a body signature: 64 hexadecimal digits. */
export const isHexDigest = (text: string): boolean => hexDigest.test(text);

/** The time (seconds since 1970) in a second signature; null if the header is malformed. */
export function secondSignatureTime(header: string): number | null {
  const at = signedAt.exec(header)?.[1];
  return at === undefined ? null : Number(at);
}

/**
 * Whether `signature` (hex of either case) is the HMAC-SHA256 of exactly these bytes, keyed by the signing secret's
 * text. Constant time: a missing, malformed or wrong signature costs the same work.
 */
export function isSignatureOf(secret: string, body: Uint8Array, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest();
  const wellFormed = isHexDigest(signature);
  const given = wellFormed ? Buffer.from(signature, 'hex') : noSignature;
  return timingSafeEqual(expected, given) && wellFormed;
}

/** What the second version of the signature covers. */
export interface SignedRequest {
  method: string;
  /** Path and query, exactly as sent. */
  target: string;
  /** The header `x-idempotency-key`; empty if not sent. */
  idempotencyKey: string;
  body: Uint8Array;
}

/** Five lines without line feeds, so that different requests have different texts (docs/contract.md 8). */
const digestOfRequest = (secret: string, at: string, { method, target, idempotencyKey, body }: SignedRequest): Buffer =>
  createHmac('sha256', secret)
    .update([at, method, target, idempotencyKey, createHash('sha256').update(body).digest('hex')].join('\n'))
    .digest();

/** The header `x-partner-signature-v2` of a request signed at `at` (seconds since 1970). */
export const signRequest = (secret: string, at: number, request: SignedRequest): string =>
  `t=${at},v1=${digestOfRequest(secret, String(at), request).toString('hex')}`;

/**
 * Whether `header` is the second version's signature of exactly this request, made at most five minutes before or after
 * `now` (seconds since 1970). A malformed, old or wrong signature costs the same work.
 */
export function isSignatureOfRequest(secret: string, request: SignedRequest, header: string, now: number): boolean {
  const [, at = '0', hex] = signedAt.exec(header) ?? [];
  const given = hex === undefined ? noSignature : Buffer.from(hex, 'hex');
  const same = timingSafeEqual(digestOfRequest(secret, at, request), given);
  return same && hex !== undefined && Math.abs(now - Number(at)) <= signatureToleranceSeconds;
}
