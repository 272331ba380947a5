import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { jsonBodyLimitBytes } from '../http/body.ts';

/** What is kept of a body beyond the limit; its digest is of all of it. */
const keptOfLargeBytes = 64 * 1024;

/** The body of a callback as it came. */
export interface CallbackBody {
  /** All bytes, or the first ones of a body beyond the limit. */
  bytes: Buffer;
  isWhole: boolean;
  /** How many bytes came. */
  size: number;
  /** SHA-256 of all of them, in hex. */
  digest: string;
}

/**
 * Reads a body of whatever size, to its end, in bounded memory: refusing one, or answering before its sender has sent it,
 * would only make it be repeated.
 */
export async function readCallbackBody(request: IncomingMessage): Promise<CallbackBody> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size <= jsonBodyLimitBytes) chunks.push(chunk);
    size += chunk.length;
  }
  const isWhole = size <= jsonBodyLimitBytes;
  const bytes = Buffer.concat(chunks);
  return { bytes: isWhole ? bytes : bytes.subarray(0, keptOfLargeBytes), isWhole, size, digest: hash.digest('hex') };
}
