import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a text (UTF-8) or of bytes, in lower-case hex. */
export function sha256(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('hex');
}

/** Whether two texts are equal, compared in constant time, so that neither their differences nor their lengths leak. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}
