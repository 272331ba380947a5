import { mkdirSync } from 'node:fs';
import type { S3rverContext } from '@20minutes/s3rver';
import { z } from 'zod';
import { type Part, type PartPlace, readPartOptions, startPart } from './part.ts';

const optionsSchema = z.object({
  directory: z.string(),
  port: z.number().int(),
  bucket: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
});

export type S3Options = z.input<typeof optionsSchema>;

const readyWithinMs = 30_000;

/** Starts the embedded S3 server, with one bucket and one key pair, as its own part. */
export function startS3(options: S3Options, part: PartPlace): Promise<Part> {
  return startPart({ ...part, name: 'S3', script: import.meta.filename, env: process.env, options, readyWithinMs });
}

async function run(): Promise<void> {
  const { directory, port, bucket, accessKeyId, secretAccessKey } = optionsSchema.parse(readPartOptions());
  // The server encodes queries with this function before it checks their signature; S3 also encodes these characters.
  const encode = globalThis.encodeURIComponent;
  globalThis.encodeURIComponent = (text) =>
    encode(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [{ default: S3rver }, { default: accounts }] = await Promise.all([
    import('@20minutes/s3rver'),
    import('@20minutes/s3rver/lib/models/account.js'),
  ]);
  accounts.DUMMY_ACCOUNT.revokeAccessKey('S3RVER');
  accounts.DUMMY_ACCOUNT.createKeyPair(accessKeyId, secretAccessKey);
  const server = new S3rver({
    address: '127.0.0.1',
    port,
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  });
  server.middleware.splice(-1, 0, refuseUnsigned, keepTrailingSlash);
  server.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  const stop = () => process.exit(0);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
  await server.run();
  process.send?.('ready');
}

/**
 * The SDK signs bucket calls as `/bucket/`, but the server would check them as `/bucket` and refuse them. For virtual
 * hosts the server appends this mount path to the bucket.
 */
function keepTrailingSlash(ctx: S3rverContext, next: () => Promise<void>): Promise<void> {
  if (/^\/[^/]+\/$/.test(ctx.path)) {
    ctx.state.vhost = true;
    ctx.mountPath = '/';
  }
  return next();
}

/** Refuses unsigned requests, which the server itself accepts. */
function refuseUnsigned(ctx: S3rverContext, next: () => Promise<void>): Promise<void> {
  if ('authorization' in ctx.headers || 'X-Amz-Algorithm' in ctx.query) return next();
  ctx.status = 403;
  return Promise.resolve();
}

if (import.meta.main) await run();
