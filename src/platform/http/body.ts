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
  /** For bodies with a long list. */
  list: 1024 * kibibyte,
} as const;
/** The largest factor by which decompression may grow a body. */
export const mostGrowth = 20;
/** How long a body may take to arrive. */
export const bodyTimeoutMs = 30_000;
/**
 * Bytes of unfinished bodies that this process holds, as anybody can begin many and finish none. Bodies up to the limit
 * for logging in are received regardless: the number of connections bounds them.
 */
const mostUnfinishedBytes = 64 * kibibyte * kibibyte;
let unfinishedBytes = 0;

export interface BodyLimits {
  limitBytes?: number;
  /** How long the whole body may take to arrive, however steadily it trickles. */
  timeoutMs?: number;
}

/**
 * Reads the body's bytes exactly as received. Throws 413 for more than `limitBytes`, 408 if it arrives too slowly, 503 if
 * it is large and unfinished bodies already take too much memory.
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits = {}): Promise<Buffer> {
  const { limitBytes = bodyLimitBytes.usual, timeoutMs = bodyTimeoutMs } = limits;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new DomainError('REQUEST_TIMEOUT', `The body did not arrive within ${timeoutMs / 1000} seconds`));
  }, timeoutMs);
  const arriving: ArrivingBody = { chunks: [], size: 0, isOver: false };
  try {
    return await Promise.race([receive(request, arriving, limitBytes), late.promise]);
  } finally {
    clearTimeout(timer);
    unfinishedBytes -= arriving.size;
    Object.assign(arriving, { chunks: [], isOver: true });
  }
}

interface ArrivingBody {
  chunks: Buffer[];
  /** How much of it is counted in `unfinishedBytes`. */
  size: number;
  /** Nobody waits for the rest any more. */
  isOver: boolean;
}

async function receive(request: IncomingMessage, arriving: ArrivingBody, limitBytes: number): Promise<Buffer> {
  const tooLarge = () => refuse('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) tooLarge();
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (arriving.isOver) continue;
      arriving.size += chunk.length;
      unfinishedBytes += chunk.length;
      if (arriving.size > limitBytes) tooLarge();
      if (arriving.size > bodyLimitBytes.auth && unfinishedBytes > mostUnfinishedBytes) {
        refuse('SERVICE_UNAVAILABLE', 'Too many large bodies are arriving; try again', { retryAfterSeconds: 2 });
      }
      arriving.chunks.push(chunk);
    }
  } catch (error) {
    // The client has disconnected and gets no response; without this, its ECONNRESET would be logged as a failed
    // dependency.
    if (request.errored) refuse('REQUEST_INVALID', 'The body was incomplete', { cause: error });
    // Discard the rest, so that the client can read the refusal and use its connection again.
    if (errorCodeOf(error) === 'SERVICE_UNAVAILABLE') request.resume();
    throw error;
  }
  return Buffer.concat(arriving.chunks);
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
