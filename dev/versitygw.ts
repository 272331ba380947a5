import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { keep } from './keep.ts';
import { type Part, type PartPlace, type ReadyMessage, readPartOptions, startPart } from './part.ts';
import type { S3Options } from './s3.ts';
import { StackError } from './stack-error.ts';
import { findExecutable } from './temporal-binary.ts';
import { userCacheDirectory } from './user-cache.ts';

const optionsSchema = z.object({
  directory: z.string(),
  port: z.number().int(),
  bucket: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  binary: z.string(),
});

const module = 'github.com/versity/versitygw/cmd/versitygw@latest';
const healthPath = '/health';
const readyWithinMs = 30_000;
const stopGraceMs = 5_000;
const pollMs = 40;

/** A second S3 server besides the embedded one, over a directory: the storage tests run against both. */
export async function startVersitygw(
  options: S3Options,
  part: PartPlace,
  say: (sentence: string) => void,
): Promise<Part> {
  const binary = await findVersitygw(say);
  return startPart({
    ...part,
    name: 'S3 (versitygw)',
    script: import.meta.filename,
    env: process.env,
    options: { ...options, binary },
    readyWithinMs,
  });
}

/** The binary: on the PATH, built earlier, or built with Go now. Throws StackError when none of these works. */
export async function findVersitygw(say: (sentence: string) => void): Promise<string> {
  const built = join(userCacheDirectory(), 'versitygw');
  const found = findExecutable('versitygw') ?? (isExecutable(built) ? built : null);
  if (found) return found;
  const go = findExecutable('go');
  if (!go) throw new StackError('There is no versitygw and no Go to build it: put one of them on the PATH.');
  say('building it with Go, which takes minutes (once for this user)');
  mkdirSync(userCacheDirectory(), { recursive: true });
  const draft = mkdtempSync(join(userCacheDirectory(), 'building-'));
  try {
    await runGo(go, draft);
    renameSync(join(draft, 'versitygw'), built);
    return built;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function runGo(go: string, directory: string): Promise<void> {
  const env = { ...process.env, GOBIN: directory, GOWORK: 'off' };
  const child = spawn(go, ['install', module], { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new StackError(`versitygw could not be built: ${complaint.trim().split('\n').at(-1)}`));
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function run(): Promise<void> {
  const { directory, port, bucket, accessKeyId, secretAccessKey, binary } = optionsSchema.parse(readPartOptions());
  const [objects, metadata] = [join(directory, 'objects'), join(directory, 'metadata')];
  // A directory is a bucket; metadata goes beside it, because not every file system has extended attributes.
  for (const path of [join(objects, bucket), metadata]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const args = [
    '--port',
    `127.0.0.1:${port}`,
    '--health',
    healthPath,
    '--quiet',
    'posix',
    '--sidecar',
    metadata,
    objects,
  ];
  const credentials = { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
  const server = spawn(binary, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...credentials },
  });
  server.on('error', () => process.exit(1));
  keep(server, { stopSignal: 'SIGTERM', hardSignal: 'SIGKILL', graceMs: stopGraceMs });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}${healthPath}`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await answers())) await sleep(pollMs);
  const message: ReadyMessage = server.pid === undefined ? { ready: true } : { ready: true, inner: server.pid };
  process.send?.(message);
}

if (import.meta.main) await run();
