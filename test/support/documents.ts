import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { recordTransactions } from '../../src/ledger/post-journal.ts';
import { newId } from '../../src/shared/ids.ts';
import { negateMoney } from '../../src/shared/money.ts';
import type { BuiltUser } from './build.ts';
import type { HttpAnswer } from './http.ts';
import { plantJournal } from './plant-journal.ts';

interface Served {
  url: string;
  env: Record<string, string>;
  em(): EntityManager;
  owner(): EntityManager;
}

/** Creates a transaction of the user, to attach documents to. */
export async function buildTransaction(stack: Served, user: BuiltUser, accountId = user.accountId): Promise<string> {
  return stack.owner().transactional(async (tx) => {
    const amount = '1.0000';
    const journalId = await plantJournal(tx, {
      kind: 'test.documented',
      businessKey: `test/documented/${newId()}`,
      postings: [
        { accountId: systemAccounts.gatewayClearing, amount: negateMoney(amount) },
        { accountId, amount },
      ],
    });
    const [id = ''] = await recordTransactions(tx, journalId ?? '', [
      {
        userId: user.id,
        organizationId: user.organizationId,
        amount,
        sourceAccountId: accountId,
        destinationAccountId: null,
        type: 'price',
        referenceType: 'account_top_up',
        referenceId: accountId,
        purpose: 'topup_pocket',
        paymentOrderId: null,
        createdBy: user.id,
      },
    ]);
    return id;
  });
}

/** A PNG of one pixel: the product detects its type by the content. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export interface Part {
  name: string;
  fileName?: string;
  type?: string;
  content: Uint8Array | string;
}

const boundary = 'the-boundary-of-the-test';

/** The head of a part: what precedes the content on the wire. */
const headOf = ({ name, fileName, type }: Omit<Part, 'content'>) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n` +
  `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`;
const tail = `--${boundary}--\r\n`;

/** A multipart body, byte for byte. */
export const multipart = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(headOf(part)), Buffer.from(part.content), Buffer.from('\r\n')]),
    Buffer.from(tail),
  ]);

export const fieldsOf = (productId: string, more: Record<string, string> = {}): Part[] =>
  Object.entries({ document_type: 'image', product_type: 'transaction', product_id: productId, ...more }).map(
    ([name, content]) => ({ name, content }),
  );

/** Sends a multipart body whole. */
export async function send(stack: Served, by: { token: string }, parts: readonly Part[]): Promise<HttpAnswer> {
  const answer = await fetch(new URL('/v1/documents/upload', stack.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${by.token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: new Uint8Array(multipart(parts)),
  });
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
}

/** Uploads one file with its fields, as a client would. */
export const upload = (
  stack: Served,
  by: { token: string },
  productId: string,
  { content = png, ...fields }: { content?: Uint8Array } & Record<string, string | Uint8Array> = {},
): Promise<HttpAnswer> =>
  send(stack, by, [
    ...fieldsOf(productId, fields as Record<string, string>),
    { name: 'file', fileName: 'picture.txt', type: 'text/plain', content },
  ]);

export interface WireUpload {
  productId: string;
  /** The size of the file's content. */
  sizeBytes: number;
  /** Stops after this much of the content. */
  stopAfterBytes?: number;
  /** How it stops: the connection is destroyed (at once, or when a promise is fulfilled), half-closed, or stalls. */
  stopBy?: 'destroy' | 'end' | 'stall' | Promise<void>;
  /** Whether to send chunks instead of a Content-Length. */
  chunked?: boolean;
}

/** Uploads over a bare socket, piece by piece, so that a test can stop midway. The status is null without a response. */
export async function uploadOverWire(
  stack: Served,
  by: { token: string },
  { productId, sizeBytes, stopAfterBytes, stopBy, chunked }: WireUpload,
): Promise<{ status: number | null; text: string; seconds: number }> {
  const startedAt = performance.now();
  const { hostname, port } = new URL(stack.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  const write = async (bytes: Uint8Array | string) => {
    if (socket.destroyed) return;
    if (socket.write(bytes)) return;
    // A close follows every error.
    await Promise.race([once(socket, 'drain').catch(() => closed), closed]);
  };
  const piece = async (bytes: Uint8Array | string) => {
    if (!chunked) return write(bytes);
    await write(`${Buffer.byteLength(bytes).toString(16)}\r\n`);
    await write(bytes);
    await write('\r\n');
  };
  const fields = fieldsOf(productId).map((part) => `${headOf(part)}${part.content}\r\n`);
  const head = `${fields.join('')}${headOf({ name: 'file', fileName: 'big.bin', type: 'application/octet-stream' })}`;
  const length = Buffer.byteLength(head) + sizeBytes + 2 + Buffer.byteLength(tail);
  await write(
    `POST /v1/documents/upload HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${by.token}\r\n` +
      `Content-Type: multipart/form-data; boundary=${boundary}\r\nConnection: close\r\n` +
      `${chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n\r\n`,
  );
  await piece(head);
  const block = randomBytes(256 * 1024);
  const toSend = Math.min(sizeBytes, stopAfterBytes ?? sizeBytes);
  for (let sent = 0; sent < toSend && !socket.destroyed; sent += block.length) {
    await piece(block.subarray(0, Math.min(block.length, toSend - sent)));
  }
  if (stopBy === undefined) {
    await piece(`\r\n${tail}`);
    if (chunked) await write('0\r\n\r\n');
  }
  if (stopBy instanceof Promise) await Promise.race([stopBy, closed]);
  if (stopBy === 'destroy' || stopBy instanceof Promise) socket.destroy();
  if (stopBy === 'end') socket.end();
  await closed;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? Number.NaN);
  return { status: Number.isNaN(status) ? null : status, text, seconds: (performance.now() - startedAt) / 1000 };
}

const clientOf = ({ env }: Pick<Served, 'env'>) =>
  new S3Client({
    endpoint: env.S3_ENDPOINT ?? '',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: env.S3_ACCESS_KEY_ID ?? '', secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '' },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });

/** The storage keys of a user's or an organization's documents. */
export async function keysOf(stack: Pick<Served, 'env'>, space: string): Promise<string[]> {
  const client = clientOf(stack);
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: stack.env.S3_BUCKET, Prefix: `documents/${space}/` }),
  );
  client.destroy();
  return Contents.map(({ Key = '' }) => Key).sort();
}

/** Multipart uploads in progress in storage; null where the server cannot list them. */
export async function multipartUploads(stack: Pick<Served, 'env'>): Promise<string[] | null> {
  const client = clientOf(stack);
  try {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: stack.env.S3_BUCKET }));
    return Uploads.map(({ Key = '' }) => Key);
  } catch {
    return null;
  } finally {
    client.destroy();
  }
}

/** Temporary files of uploads on this machine's disk, including those of concurrent processes. */
export const filesOnDisk = (): string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith('amanah-upload-'))
    .filter((name) => (statSync(join(tmpdir(), name), { throwIfNoEntry: false })?.size ?? 0) > 0);

/** Counts what is stored: a user's objects and documents, everybody's unfinished uploads, and files on disk. */
export async function whatIsLeft(stack: Served, user: BuiltUser) {
  const em = stack.em();
  const [documents] = await em.execute<[{ count: string }]>('select count(*) from documents where created_by = ?', [
    user.id,
  ]);
  const [uploads] = await em.execute<[{ count: string }]>('select count(*) from document_uploads');
  return {
    objects: (await keysOf(stack, user.organizationId ?? user.id)).length,
    documents: Number(documents.count),
    uploads: Number(uploads.count),
    files: filesOnDisk().length,
  };
}

export const nothing = { objects: 0, documents: 0, uploads: 0, files: 0 };

/** The events of a resource, in order: event and impact. If its id is not a UUID, the type is needed too. */
export async function eventsOf(stack: Pick<Served, 'em'>, id: string, type: string | null = null): Promise<string[]> {
  const rows = await stack.em().execute<{ told: string }[]>(
    `select event || ' ' || impact as told from events
     where resource_id = ? and resource_type = coalesce(?, resource_type) order by id`,
    [id, type],
  );
  return rows.map(({ told }) => told);
}
