import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { mostItems } from '../../src/money-out/payout-batches/payout-batch.ts';
import { bodyLimitBytes, mostGrowth } from '../../src/platform/http/body.ts';
import { worstBodies } from './worst-bodies.ts';

/** The sender of a request: `provider` sends a callback, `uploader` a file. */
export type Sender = 'nobody' | 'user' | 'partner' | 'provider' | 'uploader';

/** A request whose body is built to cost as much as possible. */
export interface WorstRequest {
  name: string;
  sender: Sender;
  path: string;
  body: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

const json = { 'content-type': 'application/json' };
const doors: { sender: Sender; path: string; fields: string[]; bytes: number }[] = [
  { sender: 'nobody', path: '/v1/auth/login', fields: ['email', 'password'], bytes: bodyLimitBytes.auth },
  { sender: 'nobody', path: '/v1/auth/signup', fields: ['name', 'password'], bytes: bodyLimitBytes.auth },
  { sender: 'user', path: '/v1/payments/gateway', fields: ['amount', 'note'], bytes: bodyLimitBytes.usual },
  { sender: 'user', path: '/v1/saving-circles/members', fields: ['account_ids'], bytes: bodyLimitBytes.usual },
  { sender: 'partner', path: '/v1/partners/payments', fields: ['amount', 'customer'], bytes: bodyLimitBytes.usual },
  { sender: 'provider', path: '/v1/gateway/callbacks/xendit', fields: ['data'], bytes: bodyLimitBytes.usual },
];

const compressors = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

/** JSON of `text` padded with so much noise that it stays just within the decompression limit. */
function compressed(text: string, encoding: keyof typeof compressors): Uint8Array<ArrayBuffer> {
  const noise = randomBytes(Math.ceil(text.length / mostGrowth)).toString('base64url');
  return Uint8Array.from(compressors[encoding](`[${text},"${noise}"]`));
}

/** Every form of body for every kind of sender; `share` scales each to that fraction of its size limit. */
export function* worstRequests(share = 1): Generator<WorstRequest> {
  for (const { sender, path, fields, bytes } of doors) {
    const size = Math.max(64, Math.floor(bytes * share) - 256);
    for (const { name, text } of worstBodies(size, fields)) {
      yield { name, sender, path, body: Uint8Array.from(Buffer.from(text)), headers: json };
    }
    if (sender === 'nobody') {
      const body = Uint8Array.from(gzipSync(worstBodies(1_000_000, []).map(({ text }) => text)[2] ?? ''));
      yield { name: 'a bomb', sender, path, body, headers: { ...json, 'content-encoding': 'gzip' } };
    } else if (sender !== 'provider') {
      for (const { name, text } of worstBodies(Math.floor(size * 0.9), [])) {
        for (const encoding of Object.keys(compressors) as (keyof typeof compressors)[]) {
          const headers = { ...json, 'content-encoding': encoding };
          yield { name: `${name}, by ${encoding}`, sender, path, body: compressed(text, encoding), headers };
        }
      }
    }
  }
  const body = Uint8Array.from(Buffer.from(JSON.stringify({ items: items(Math.ceil(mostItems * share)) })));
  yield { name: 'a batch of payouts', sender: 'partner', path: '/v1/partners/payout-batches', body, headers: json };
  yield* worstUploads(Math.floor(4 * 1024 * 1024 * share));
}

/** Valid items, each as short as possible: the cost of a batch depends on the number of items. */
const items = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ amount: '20000', external_ref: String(place), bank_code: 'BNI', bank_account_number: '0000111111' },
  }));

const boundary = 'worst';
const part = (head: string, content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
const fileHead = 'content-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: text/plain';
const many = (piece: Buffer, bytes: number): Buffer =>
  Buffer.concat(Array<Buffer>(Math.max(1, Math.floor(bytes / piece.length))).fill(piece));

function* worstUploads(bytes: number): Generator<WorstRequest> {
  const forms: Record<string, Buffer> = {
    'a file of noise': part(fileHead, randomBytes(bytes)),
    'a file of line feeds': part(fileHead, '\r\n'.repeat(bytes / 2)),
    'a file of boundary prefixes': part(fileHead, `\r\n--${boundary.slice(0, -1)}`.repeat(bytes / 8)),
    'a file of boundaries of one dash': part(fileHead, '\r\n-'.repeat(bytes / 3)),
    'many fields': many(part('content-disposition: form-data; name="a"', 'x'), bytes),
    'many fields of different names': Buffer.concat(
      Array.from({ length: Math.ceil(bytes / 64) }, (_, index) =>
        part(`content-disposition: form-data; name="a${index}"`, 'x'),
      ),
    ),
    'many files': many(part(fileHead, 'x'), bytes),
    'many files without a name': many(part('content-disposition: form-data; filename="a"', 'x'), bytes),
    'many parts without headers': many(part('', 'x'), bytes),
    'many parts of another type': many(part('content-type: multipart/mixed; boundary=other', 'x'), bytes),
    'one field of the maximum size': part('content-disposition: form-data; name="a"', 'x'.repeat(bytes)),
    'many headers': part(`${'a: b\r\n'.repeat(bytes / 6)}${fileHead}`, 'x'),
    'a long header': part(`a: ${'b'.repeat(bytes)}\r\n${fileHead}`, 'x'),
    'a long name': part(`content-disposition: form-data; name="${'a '.repeat(bytes / 2)}"`, 'x'),
    'a long file name': part(`content-disposition: form-data; name="file"; filename="${'%22'.repeat(bytes / 3)}"`, 'x'),
    'a preamble': Buffer.concat([Buffer.from('x'.repeat(bytes)), part(fileHead, 'x')]),
    'no boundary': Buffer.from('\r\n'.repeat(bytes / 2)),
  };
  for (const [name, content] of Object.entries(forms)) {
    const body = Uint8Array.from(Buffer.concat([content, Buffer.from(`--${boundary}--\r\n`)]));
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    yield { name: `an upload, ${name}`, sender: 'uploader', path: '/v1/documents/upload', body, headers };
  }
}
