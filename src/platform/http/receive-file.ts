import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { fileTypeFromBuffer } from 'file-type';
import type { Context } from 'koa';
import { budgets } from '../../shared/budgets.ts';
import { DomainError, errorCodeOf, isDomainError, refuse } from '../../shared/errors.ts';
import { openNamelessFile, readFrom, writeTo } from './nameless-file.ts';

export interface ReceiveOptions {
  /** The field name of the one file part. */
  field: string;
  maximumBytes: number;
  /** An upload that sends nothing for this long is aborted (408). */
  stallTimeoutMs: number;
}

/** A fully received file and the text fields sent with it. Disposing of it removes it from the disk. */
export interface ReceivedFile extends AsyncDisposable {
  fields: Record<string, unknown>;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
  /**
   * Detected from the content, never from the name. Plain texts, which have no signature, have the declared type;
   * anything else is `application/octet-stream`.
   */
  contentType: string;
  /** The client's name for it, without folders; null when it has none. */
  fileName: string | null;
  /** Opens the bytes from their beginning. */
  open(): Readable;
}

/** The longest that an upload may take, however steadily it trickles. */
const longestUploadMs = budgets.upload.whole;
const maximumFieldBytes = 64 * 1024;
const maximumFields = 32;
/** Allowance for boundaries, headers and fields around the file. */
const maximumOverheadBytes = 256 * 1024;
/** How much of a refused body is still read, and for how long, so that the client can read the refusal. */
const maximumDrainBytes = 512 * 1024 * 1024;
const maximumDrainMs = budgets.upload.drain;
/** How much of the beginning is examined to detect the type. */
const sampleBytes = 256 * 1024;

/**
 * Receives one file by multipart/form-data, spooled to disk and never held whole in memory. Throws 400 for no file, two
 * files, a file under another field name, an empty file, or a body that is malformed or incomplete; 408 for a stalled
 * upload; 413 for a file that is too large. Nothing then remains on disk.
 */
export async function receiveFile(ctx: Context, options: ReceiveOptions): Promise<ReceivedFile> {
  if (!ctx.is('multipart')) refuse('REQUEST_INVALID', 'The body must be multipart/form-data');
  const handle = await openNamelessFile();
  try {
    if (Number(ctx.get('content-length')) > options.maximumBytes + maximumOverheadBytes) throw tooBig(options);
    const { declaredType, ...spooled } = await spool(ctx, () => writeTo(handle), options);
    const sample = Buffer.alloc(Math.min(sampleBytes, spooled.sizeBytes));
    await handle.read(sample, 0, sample.length, 0);
    const type = await fileTypeFromBuffer(sample);
    return {
      ...spooled,
      contentType: type?.mime ?? declaredTextType(declaredType, sample) ?? 'application/octet-stream',
      open: () => readFrom(handle, spooled.sizeBytes),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    const refusal = asRefusal(error, ctx);
    if (errorCodeOf(refusal) !== 'REQUEST_TIMEOUT') await drain(ctx.req);
    throw refusal;
  }
}

type Spooled = Pick<ReceivedFile, 'fields' | 'sizeBytes' | 'sha256' | 'fileName'> & { declaredType: string | null };

/** The state of one upload. */
interface Arriving {
  fields: Map<string, string>;
  file: { stream: Readable; fileName: string | undefined; declaredType: string; spooling: Promise<Measured> } | null;
}
type Measured = Pick<ReceivedFile, 'sizeBytes' | 'sha256'>;

async function spool(ctx: Context, open: () => Writable, options: ReceiveOptions): Promise<Spooled> {
  const { field, stallTimeoutMs } = options;
  const { req } = ctx;
  const parser = openParser(ctx, options);
  const whole = Promise.withResolvers<void>();
  const giveUp = (error: unknown) => whole.reject(error);
  const arriving = collect(parser, { open, options, giveUp });
  parser.once('finish', whole.resolve);
  req.once('close', () => {
    if (!req.complete) giveUp(malformed());
  });
  req.once('error', giveUp);
  const stopWatching = watch(req, stallTimeoutMs, (why) => giveUp(new DomainError('REQUEST_TIMEOUT', why)));
  try {
    req.pipe(parser);
    await whole.promise;
    const { fields, file } = arriving;
    if (file === null) refuse('REQUEST_INVALID', 'exactly one file is required', { field });
    const measured = await file.spooling;
    if (measured.sizeBytes > options.maximumBytes) throw tooBig(options);
    if (measured.sizeBytes === 0) refuse('REQUEST_INVALID', 'must not be empty', { field });
    const { declaredType, fileName = null } = file;
    return { ...measured, fields: Object.fromEntries(fields), fileName: fileNameOf(fileName), declaredType };
  } catch (error) {
    req.unpipe(parser);
    arriving.file?.stream.destroy();
    await arriving.file?.spooling.catch(() => undefined);
    throw error;
  } finally {
    stopWatching();
  }
}

/** Creates the parser, with limits on the headers of each part; throws REQUEST_INVALID when it cannot start. */
function openParser(ctx: Context, { field, maximumBytes }: ReceiveOptions): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...ctx.req.headers, 'content-type': ctx.get('content-type') },
      preservePath: true,
      // Clients mark a file by a file name, not always with a type, or by a type alone; a part with neither is text.
      isPartAFile: (name, type, fileName) => fileName !== undefined || (name === field && type !== 'text/plain'),
      limits: {
        files: 1,
        fields: maximumFields,
        parts: maximumFields + 1,
        fieldSize: maximumFieldBytes,
        // A file of exactly the limit is not too large.
        fileSize: maximumBytes + 1,
        headerPairs: 100,
      },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** Collects the parts as they arrive; an error in one aborts the whole upload. */
function collect(
  parser: BusboyInstance,
  { open, options, giveUp }: { open: () => Writable; options: ReceiveOptions; giveUp: (error: unknown) => void },
): Arriving {
  const { field, maximumBytes } = options;
  const arriving: Arriving = { fields: new Map(), file: null };
  let fieldBytes = 0;
  parser.on('field', (name, value) => {
    fieldBytes += Buffer.byteLength(value);
    const refusal = fieldBytes >= maximumFieldBytes ? 'The fields sent with the file are too long' : null;
    if (refusal !== null) giveUp(new DomainError('REQUEST_INVALID', refusal));
    else if (arriving.fields.has(name)) giveUp(new DomainError('REQUEST_INVALID', 'appears twice', { field: name }));
    else arriving.fields.set(name, value);
  });
  parser.on('file', (name, stream, fileName, _, declaredType) => {
    // The stream is read to its end or destroyed; the parser reports its error, too.
    stream.on('error', (error) => giveUp(malformed(error)));
    if (name !== field) {
      const what = !name ? 'A file without a field name' : `${name}: unknown file`;
      giveUp(new DomainError('REQUEST_INVALID', `${what}; send it as ${field}`));
      stream.resume();
      return;
    }
    stream.once('limit', () => giveUp(tooBig(options)));
    const spooling = measureInto(stream, open(), maximumBytes);
    spooling.catch(giveUp);
    arriving.file = { stream, fileName, declaredType, spooling };
  });
  parser.once('filesLimit', () =>
    giveUp(new DomainError('REQUEST_INVALID', 'exactly one file is required', { field })),
  );
  for (const limit of ['fieldsLimit', 'partsLimit'] as const) {
    parser.once(limit, () => giveUp(new DomainError('REQUEST_INVALID', 'Too many fields are sent with the file')));
  }
  parser.on('error', (error) => giveUp(malformed(error)));
  return arriving;
}

/** Writes the stream, and returns its size and digest. */
async function measureInto(stream: Readable, file: Writable, maximumBytes: number): Promise<Measured> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  await pipeline(
    stream,
    async function* measure(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        sizeBytes += chunk.length;
        hash.update(chunk);
        if (sizeBytes <= maximumBytes) yield chunk;
      }
    },
    file,
  );
  return { sizeBytes, sha256: hash.digest('hex') };
}

const malformed = (cause?: unknown): DomainError =>
  new DomainError('REQUEST_INVALID', 'The body is not well-formed multipart/form-data, or is incomplete', { cause });

/**
 * Calls `giveUp` with the reason when no byte arrives for `stallTimeoutMs`, or the whole upload takes longer than
 * `longestUploadMs`.
 */
function watch(request: IncomingMessage, stallTimeoutMs: number, giveUp: (why: string) => void): () => void {
  const begun = performance.now();
  let [seen, since] = [request.socket.bytesRead, begun];
  const timer = setInterval(
    () => {
      const [bytes, now] = [request.socket.bytesRead, performance.now()];
      if (bytes !== seen) [seen, since] = [bytes, now];
      if (now - since >= stallTimeoutMs) giveUp(`Nothing arrived for ${Math.ceil(stallTimeoutMs / 1000)} seconds`);
      else if (now - begun >= longestUploadMs)
        giveUp(`The upload took longer than ${longestUploadMs / 60_000} minutes`);
    },
    Math.min(1000, stallTimeoutMs / 4),
  );
  return () => clearInterval(timer);
}

const tooBig = ({ field, maximumBytes }: ReceiveOptions) =>
  new DomainError('PAYLOAD_TOO_LARGE', `must have at most ${maximumBytes} bytes`, { field });

const diskFull = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** Maps connection and disk errors to our refusals; returns others unchanged. */
function asRefusal(error: unknown, { req }: Context): unknown {
  if (isDomainError(error)) return error;
  if (diskFull.has(errorCodeOf(error))) {
    const message = 'Uploads are temporarily unavailable; try again';
    return new DomainError('SERVICE_UNAVAILABLE', message, { cause: error, retryAfterSeconds: 10 });
  }
  return req.complete ? error : malformed(error);
}

/**
 * Reads and discards the rest, within limits: closing the connection while the client still sends would lose the
 * response.
 */
async function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = request.socket.bytesRead;
  const deadline = performance.now() + maximumDrainMs;
  const timer = setInterval(() => {
    if (request.socket.bytesRead - begun > maximumDrainBytes || performance.now() > deadline) resolve();
  }, 50);
  for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
  request.resume();
  await promise;
  clearInterval(timer);
}

/** The limit of file systems for a name; counted here in characters. */
const maximumNameCharacters = 255;
/** Control, format (such as direction overrides) and separator characters, which can disguise a name. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the client's name for a file, without the folders that some clients send; null if nothing remains. */
function fileNameOf(given: string | null): string | null {
  const name = (given ?? '').toWellFormed().replace(invisible, '').split(/[\\/]/).at(-1)?.trim() ?? '';
  if (name === '' || name === '.' || name === '..') return null;
  const characters = [...name];
  if (characters.length <= maximumNameCharacters) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, maximumNameCharacters - extension.length).join('') + extension;
}

/** Text types that a browser does not run or render: never HTML, SVG, XML or scripts. */
const textTypes = new Set(['text/plain', 'text/csv', 'text/tab-separated-values', 'text/markdown']);

/** Whether a sample is UTF-8 without control characters; its last character may be cut off. */
function looksLikeText(sample: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they distinguish other content from text.
    return !/[\x00-\x08\x0b\x0e-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}

/** Returns the declared type if it is a text type and the sample looks like text, otherwise null. */
function declaredTextType(declared: string | null, sample: Uint8Array): string | null {
  const type = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return textTypes.has(type) && looksLikeText(sample) ? type : null;
}
