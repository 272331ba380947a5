import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { jsonBodyLimitBytes } from '../http/body.ts';

/** What is kept of a body beyond the limit; its digest is of all that was read. */
const keptOfLargeBytes = 64 * 1024;
/** A sender that goes on beyond this is no longer listened to. */
const readLimitBytes = 32 * 1024 * 1024;

/** The body of a callback as it came. */
export interface CallbackBody {
  /** All bytes, or the first ones of a body beyond the limit. */
  bytes: Buffer;
  isWhole: boolean;
  /** How many bytes were read. */
  size: number;
  /** SHA-256 of what was read, in hex. */
  digest: string;
}

/** Reads a body of whatever size in bounded memory: refusing one would only make its sender repeat it. */
export async function readCallbackBody(request: IncomingMessage): Promise<CallbackBody> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size <= jsonBodyLimitBytes) chunks.push(chunk);
    size += chunk.length;
    if (size > readLimitBytes) break;
  }
  const isWhole = size <= jsonBodyLimitBytes;
  const bytes = Buffer.concat(chunks);
  return { bytes: isWhole ? bytes : bytes.subarray(0, keptOfLargeBytes), isWhole, size, digest: hash.digest('hex') };
}
