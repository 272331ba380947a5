import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { bodyLimitBytes } from '../../platform/http/body.ts';

/** How much of an oversized body is stored; its digest covers all of it. */
const keptOfLargeBytes = 64 * 1024;

/** The body of a callback as received. */
export interface CallbackBody {
  /** All bytes, or the first bytes of an oversized body. */
  bytes: Buffer;
  isWhole: boolean;
  /** Bytes received. */
  size: number;
  /** SHA-256 of all bytes received, in hex. */
  digest: string;
}

/**
 * Reads a body of any size to its end, in bounded memory: refusing it, or answering early, would only make the provider
 * resend it.
 */
export async function readCallbackBody(request: IncomingMessage): Promise<CallbackBody> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size <= bodyLimitBytes.usual) chunks.push(chunk);
    size += chunk.length;
  }
  const isWhole = size <= bodyLimitBytes.usual;
  const bytes = Buffer.concat(chunks);
  return { bytes: isWhole ? bytes : bytes.subarray(0, keptOfLargeBytes), isWhole, size, digest: hash.digest('hex') };
}
