import type { IncomingMessage } from 'node:http';
import { DomainError, refuse } from '../shared/errors.ts';

/** A JSON body may have this many bytes. */
export const jsonBodyLimitBytes = 1024 * 1024;
const bodyTimeoutMs = 30_000;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A JSON number as it was written, kept where the schema asks for money by its digits. */
export class NumberLiteral {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

export interface BodyLimits {
  limitBytes?: number;
  /** The whole body has so long to arrive, however steadily it trickles. */
  timeoutMs?: number;
}

/** The bytes of the body exactly as received. Refuses more than `limitBytes` with 413, and a slow one with 408. */
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
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuseBody(complaint: string): never {
  const message = `The body ${complaint}`;
  refuse('REQUEST_INVALID', message, { details: [{ field: 'body', message }] });
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
  try {
    const text = utf8.decode(bytes);
    if (literalKeys.size === 0) return JSON.parse(text);
    return JSON.parse(text, (key, value, context?: { source?: string }) =>
      typeof value === 'number' && literalKeys.has(key) && context?.source ? new NumberLiteral(context.source) : value,
    );
  } catch {
    return refuseBody('is not well-formed JSON');
  }
}
