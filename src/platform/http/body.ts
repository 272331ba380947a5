import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { DomainError, errorCodeOf, refuse } from '../../shared/errors.ts';

/** The most bytes of a JSON body. */
export const jsonBodyLimitBytes = 1024 * 1024;
/** How long a body may take to arrive. */
export const bodyTimeoutMs = 30_000;

/** Decodes bytes as text, without a leading byte order mark; throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON number as it was written, kept where the schema reads money from the literal digits. */
export class NumberLiteral {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

export interface BodyLimits {
  limitBytes?: number;
  /** How long the whole body may take to arrive, however steadily it trickles. */
  timeoutMs?: number;
}

/** The bytes of the body exactly as received. Throws 413 for more than `limitBytes`, 408 when it is too slow. */
export async function readBody(request: IncomingMessage, limits: BodyLimits = {}): Promise<Buffer> {
  const { limitBytes = jsonBodyLimitBytes, timeoutMs = bodyTimeoutMs } = limits;
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
    // The client is gone and sees no answer; without this, its ECONNRESET would be logged as our own dependency away.
    if (request.errored) refuse('REQUEST_INVALID', 'The body ended early', { cause: error });
    throw error;
  }
  return Buffer.concat(chunks);
}

function refuseBody(complaint: string): never {
  const message = `The body ${complaint}`;
  refuse('REQUEST_INVALID', message, { details: [{ field: 'body', message }] });
}

const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
};

/**
 * Decompresses a body sent with `Content-Encoding` gzip, deflate or br, up to `limitBytes` of output (413). Signatures
 * are over the body as sent, before this. Throws REQUEST_INVALID for another encoding or malformed bytes.
 */
export async function decodeBody(bytes: Buffer, encoding: string, limitBytes = jsonBodyLimitBytes): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity' || bytes.length === 0) return bytes;
  const decode = decoders[name] ?? refuseBody('must be sent plain, or with Content-Encoding gzip, deflate or br');
  try {
    return await decode(bytes, { maxOutputLength: limitBytes });
  } catch (error) {
    if (errorCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      refuse('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`);
    }
    return refuseBody(`is not well-formed ${name}`);
  }
}

/**
 * The first key that an object in a JSON text has twice, or null. Parsers differ in which of the two they take, so such
 * a text is ambiguous. The text must be well-formed.
 */
export function findDuplicateKey(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token.endsWith(':')) {
      const written = token.slice(0, token.lastIndexOf('"') + 1);
      const key: string = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}

/**
 * Reads a JSON body; an empty one is an empty object. Numbers under the keys in `literalKeys` stay as they were
 * written (`NumberLiteral`), so that money never becomes a double.
 */
export function parseJson(bytes: Buffer, contentType: string, literalKeys: ReadonlySet<string>): unknown {
  if (bytes.length === 0) return {};
  if (contentType !== '' && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)) {
    refuseBody('must be application/json');
  }
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value =
      literalKeys.size === 0
        ? JSON.parse(text)
        : JSON.parse(text, (key, read, context?: { source?: string }) =>
            typeof read === 'number' && literalKeys.has(key) && context?.source
              ? new NumberLiteral(context.source)
              : read,
          );
  } catch {
    return refuseBody('is not well-formed JSON');
  }
  const twice = findDuplicateKey(text);
  if (twice !== null) {
    refuse('REQUEST_INVALID', 'appears twice', {
      field: twice,
      details: [{ field: twice, message: `${twice}: appears twice` }],
    });
  }
  return value;
}
