import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  type ListObjectsCommandOutput,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { budgets } from '../../shared/budgets.ts';
import { DomainError } from '../../shared/errors.ts';
import type { Config } from '../config/config.ts';

/**
 * Returns a Content-Disposition value for downloads under this name: an ASCII form, plus the full name (RFC 6266, RFC
 * 8187).
 */
function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  if (plain === fileName) return `attachment; filename="${plain}"`;
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** The stored metadata of an object. */
export interface StoredObject {
  contentType: string;
  sizeBytes: number;
  /** Lower-case hex; null for an object that we did not store. */
  sha256: string | null;
}

/** Object storage (S3 or compatible). Every call but `ping` throws SERVICE_UNAVAILABLE if storage is down. */
export interface Storage {
  /**
   * Stores one object in one request with its length. After a failure a partial object may exist, or appear a moment
   * later.
   */
  put(key: string, object: StoredObject, body: Readable): Promise<void>;
  /** Returns the object's metadata, or null. */
  find(key: string): Promise<StoredObject | null>;
  /** Reads the object's first bytes, at most `maximumBytes`; null if there is none. */
  read(key: string, maximumBytes: number): Promise<Buffer | null>;
  /** Yields every key with this prefix, in byte order. */
  list(prefix: string): AsyncIterable<string>;
  /** Removes the object; does nothing if there is none. */
  remove(key: string): Promise<void>;
  /** Returns a URL from which anybody may download the object, as an attachment of this name, for `lifetimeSeconds`. */
  signViewUrl(key: string, options: { fileName: string; lifetimeSeconds: number }): Promise<string>;
  /** Throws unless the bucket answers. */
  ping(): Promise<void>;
  close(): void;
}

/** Storage counts as down when it cannot be reached, or does not answer, within these times. */
const connectTimeoutMs = budgets.reach.storage;
const shortCallTimeoutMs = budgets.storage.call;
/** An upload to storage is aborted when nothing is sent or received for this long. */
const silenceTimeoutMs = budgets.storage.silence;
/** The longest upload to storage; beyond it storage counts as down. The sweep waits longer than this. */
export const putTimeoutMs = budgets.storage.put;

type StorageConfig = Pick<
  Config,
  'S3_ENDPOINT' | 'S3_PUBLIC_ENDPOINT' | 'S3_REGION' | 'S3_BUCKET' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'
>;

/** Opens the configured bucket (lazily: the first call connects). */
export function openStorage(config: StorageConfig): Storage {
  const Bucket = config.S3_BUCKET;
  const settings: S3ClientConfig = {
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    forcePathStyle: true,
    ...(config.S3_ACCESS_KEY_ID !== undefined &&
      config.S3_SECRET_ACCESS_KEY !== undefined && {
        credentials: { accessKeyId: config.S3_ACCESS_KEY_ID, secretAccessKey: config.S3_SECRET_ACCESS_KEY },
      }),
    // Other S3 servers refuse the newer checksum trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceTimeoutMs },
    // The SDK would log warnings to the console; errors are thrown, and logged with the request.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  };
  const client = new S3Client(settings);
  // The signature covers the host: a URL for browsers is signed for the host that they reach.
  const signer = new S3Client({ ...settings, endpoint: config.S3_PUBLIC_ENDPOINT ?? config.S3_ENDPOINT });
  const short = () => ({ abortSignal: AbortSignal.timeout(shortCallTimeoutMs) });
  return {
    async put(key, { contentType, sizeBytes, sha256 }, body) {
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        Body: body,
        ContentLength: sizeBytes,
        ContentType: contentType,
        Metadata: sha256 === null ? {} : { sha256 },
      });
      const broken = new AbortController();
      body.once('error', (error) => broken.abort(error));
      const abortSignal = AbortSignal.any([broken.signal, AbortSignal.timeout(putTimeoutMs)]);
      await orAway(client.send(command, { abortSignal }));
    },
    async find(key) {
      try {
        const head = await client.send(new HeadObjectCommand({ Bucket, Key: key }), short());
        return {
          contentType: head.ContentType ?? 'application/octet-stream',
          sizeBytes: head.ContentLength ?? 0,
          sha256: head.Metadata?.sha256 ?? null,
        };
      } catch (error) {
        if (isMissing(error)) return null;
        throw away(error);
      }
    },
    async read(key, maximumBytes) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }), short());
        return await readUpTo(Body as Readable, maximumBytes);
      } catch (error) {
        if (isMissing(error)) return null;
        throw away(error);
      }
    },
    async *list(prefix) {
      for (let after: string | undefined; ; ) {
        // ListObjects v1, which continues by key: the embedded server cannot produce v2's continuation token.
        const page: ListObjectsCommandOutput = await orAway(
          client.send(new ListObjectsCommand({ Bucket, Prefix: prefix, Marker: after }), short()),
        );
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
        after = page.Contents?.at(-1)?.Key;
        if (!page.IsTruncated || after === undefined) return;
      }
    },
    async remove(key) {
      await orAway(client.send(new DeleteObjectCommand({ Bucket, Key: key }), short()));
    },
    signViewUrl(key, { fileName, lifetimeSeconds }) {
      const command = new GetObjectCommand({
        Bucket,
        Key: key,
        ResponseContentDisposition: attachment(fileName),
      });
      return getSignedUrl(signer, command, { expiresIn: lifetimeSeconds });
    },
    async ping() {
      await client.send(new HeadBucketCommand({ Bucket }), short());
    },
    close() {
      client.destroy();
      signer.destroy();
    },
  };
}

const away = (cause: unknown) =>
  new DomainError('SERVICE_UNAVAILABLE', 'The file store is temporarily unavailable; try again', {
    retryAfterSeconds: 5,
    cause,
  });

async function readUpTo(body: Readable, maximumBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the stream.
    if (size >= maximumBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maximumBytes);
}

async function orAway<T>(sending: Promise<T>): Promise<T> {
  try {
    return await sending;
  } catch (error) {
    throw away(error);
  }
}

function isMissing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return false;
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode === 404;
}
