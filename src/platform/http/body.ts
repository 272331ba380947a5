import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { DomainError, errorCodeOf, refuse } from '../../shared/errors.ts';
import { refuseBody } from './json-body.ts';

const kibibyte = 1024;
/** Maximum bytes of a body, both as sent and decompressed. */
export const bodyLimitBytes = {
  /** For routes open to anyone, and those for logging in. */
  auth: 16 * kibibyte,
  usual: 256 * kibibyte,
  /** For lists of up to a thousand items. */
  list: 1024 * kibibyte,
} as const;
/** The largest factor by which decompression may grow a body. */
export const mostGrowth = 20;
/** How long a body may take to arrive. */
export const bodyTimeoutMs = 30_000;

export interface BodyLimits {
  limitBytes?: number;
  /** How long the whole body may take to arrive, however steadily it trickles. */
  timeoutMs?: number;
}

/** Reads the body's bytes exactly as received. Throws 413 for more than `limitBytes`, 408 if it arrives too slowly. */
export async function readBody(request: IncomingMessage, limits: BodyLimits = {}): Promise<Buffer> {
  const { limitBytes = bodyLimitBytes.usual, timeoutMs = bodyTimeoutMs } = limits;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new DomainError('REQUEST_TIMEOUT', `The body did not arrive within ${timeoutMs / 1000} seconds`));
  }, timeoutMs);
  try {
    return await Promise.race([receive(request, limitBytes), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function receive(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = () => refuse('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limitBytes) tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    // The client has disconnected and gets no response; without this, its ECONNRESET would be logged as a failed
    // dependency.
    if (request.errored) refuse('REQUEST_INVALID', 'The body was incomplete', { cause: error });
    throw error;
  }
  return Buffer.concat(chunks);
}

const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
};

/**
 * Decompresses a body sent with `Content-Encoding` gzip, deflate or br. Signatures are over the body as sent, before
 * this. Throws PAYLOAD_TOO_LARGE for more than `limitBytes` of output or growth beyond `mostGrowth`, REQUEST_INVALID for
 * another encoding or malformed bytes.
 */
export async function decodeBody(bytes: Buffer, encoding: string, limitBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (isPlain(name) || bytes.length === 0) return bytes;
  const decode = decoders[name] ?? refuseBody('must be sent plain, or with Content-Encoding gzip, deflate or br');
  const grown = bytes.length * mostGrowth;
  try {
    return await decode(bytes, { maxOutputLength: Math.min(limitBytes, grown) });
  } catch (error) {
    if (errorCodeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return refuseBody(`is not well-formed ${name}`);
    const complaint =
      grown < limitBytes
        ? `The body grows to more than ${mostGrowth} times its compressed size`
        : `The body is larger than ${limitBytes} bytes`;
    return refuse('PAYLOAD_TOO_LARGE', complaint);
  }
}

const isPlain = (encoding: string): boolean => encoding === '' || encoding === 'identity';

/** Refuses a compressed body before reading it: only authenticated callers may cause that much work. */
export function refuseCompressed(encoding: string): void {
  if (isPlain(encoding.trim().toLowerCase())) return;
  refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding: the caller is not authenticated yet');
}
