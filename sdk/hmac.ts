const algorithm = { name: 'HMAC', hash: 'SHA-256' };
const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

export type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export const importHmacKey = (secret: Uint8Array<ArrayBuffer>): Promise<HmacKey> =>
  crypto.subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify']);

/** The HMAC-SHA256 in lower-case hex. */
export const hexHmac = async (key: HmacKey, bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.sign(algorithm.name, key, bytes)));

/** The SHA-256 in lower-case hex. */
export const hexDigest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest(algorithm.hash, bytes)));

/** Bytes in lower-case hex. */
const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether this is the HMAC of exactly these bytes; compared in constant time. */
export const isHmacOf = (
  key: HmacKey,
  given: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> => crypto.subtle.verify(algorithm.name, key, given, bytes);

/** Decodes base64; null if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
