import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { budgets } from '../../shared/budgets.ts';
import { DomainError, errorCodeOf, isDomainError, refuse } from '../../shared/errors.ts';
import { openNamelessFile, readFrom, writeNowhere, writeTo } from './nameless-file.ts';
import { declaredTextType, fileNameOf } from './uploaded-file.ts';

export interface ReceiveOptions {
  /** The field name of the one file part. */
  field: string;
  maximumBytes: number;
  /** An upload that sends nothing for this long is ended (408). */
  stallTimeoutMs: number;
}

/** A completely received file and the text fields sent with it. Disposing of it removes it from the disk. */
export interface ReceivedFile extends AsyncDisposable {
  fields: Record<string, unknown>;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
  /**
   * Detected from the content, never from the name. For plain texts, which have no signature, the declared type;
   * otherwise `application/octet-stream`.
   */
  contentType: string;
  /** The client's name for it, without folders; null when it has none. */
  fileName: string | null;
  /** Opens the bytes from their beginning. */
  open(): Readable;
}

/** The longest an upload may take altogether, however steadily it trickles. */
const longestUploadMs = budgets.upload.whole;
const maximumFieldBytes = 64 * 1024;
const maximumFields = 32;
/** Allowance for boundaries, headers and fields around the file. */
const maximumOverheadBytes = 256 * 1024;
/** How much of a refused body is still read, and for how long, so that the client gets to read the refusal. */
const maximumDrainBytes = 512 * 1024 * 1024;
const maximumDrainMs = budgets.upload.drain;
/** How much of the beginning is examined to detect the type. */
const sampleBytes = 256 * 1024;

/**
 * Receives one file by multipart/form-data, spooled to disk and never held whole in memory. Throws 400 for no file, two
 * files, a file under another field name, an empty file, a body that is malformed or ends early; 408 for one that
 * stalls; 413 for a file that is too big. Nothing is left on disk then.
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
    const refusal = asRefusal(error, ctx, options);
    if (errorCodeOf(refusal) !== 'REQUEST_TIMEOUT') await drain(ctx.req);
    throw refusal;
  }
}

type Spooled = Pick<ReceivedFile, 'fields' | 'sizeBytes' | 'sha256' | 'fileName'> & { declaredType: string | null };

async function spool(ctx: Context, open: () => Writable, options: ReceiveOptions): Promise<Spooled> {
  const { field, maximumBytes, stallTimeoutMs } = options;
  const givenUp = Promise.withResolvers<never>();
  let files = 0;
  let declaredType: string | null = null;
  const parse = koaBody({
    multipart: true,
    json: false,
    urlencoded: false,
    text: false,
    formidable: {
      maxFiles: 1,
      maxFields: maximumFields,
      maxFieldsSize: maximumFieldBytes,
      maxFileSize: maximumBytes,
      hashAlgorithm: 'sha256',
      fileWriteStreamHandler: () => {
        files += 1;
        return files === 1 ? open() : writeNowhere();
      },
      onPart(part, handlePart) {
        // The parser recognizes a file by its content type; clients mark it by its file name, not always with a type.
        const isFile = part.originalFilename !== null || (part.name === field && part.mimetype !== null);
        if (isFile) declaredType = part.mimetype;
        part.mimetype = isFile ? 'application/octet-stream' : null;
        if (!isFile || part.name === field) handlePart(part);
        else {
          const what = !part.name ? 'A file without a field name' : `${part.name}: unknown file`;
          givenUp.reject(new DomainError('REQUEST_INVALID', `${what}; send it as ${field}`));
        }
      },
    },
  });
  const parsing = parse(ctx, async () => {});
  parsing.catch(() => {});
  const stopWatching = watch(ctx.req, stallTimeoutMs, () => {
    const message = `Nothing arrived for ${Math.ceil(stallTimeoutMs / 1000)} seconds`;
    givenUp.reject(new DomainError('REQUEST_TIMEOUT', message));
  });
  try {
    await Promise.race([parsing, givenUp.promise]);
  } finally {
    stopWatching();
  }
  const file = ctx.request.files?.[field];
  if (file === undefined || Array.isArray(file)) refuse('REQUEST_INVALID', 'exactly one file is required', { field });
  const { body } = ctx.request;
  return {
    fields: typeof body === 'object' ? { ...body } : {},
    sizeBytes: file.size,
    sha256: String(file.hash),
    fileName: fileNameOf(file.originalFilename),
    declaredType,
  };
}

/** Calls `stalled` when no byte arrives for `stallTimeoutMs`, or the whole takes longer than `longestUploadMs`. */
function watch(request: IncomingMessage, stallTimeoutMs: number, stalled: () => void): () => void {
  const begun = performance.now();
  let [seen, since] = [request.socket.bytesRead, begun];
  const timer = setInterval(
    () => {
      const [bytes, now] = [request.socket.bytesRead, performance.now()];
      if (bytes !== seen) [seen, since] = [bytes, now];
      if (now - since >= stallTimeoutMs || now - begun >= longestUploadMs) stalled();
    },
    Math.min(1000, stallTimeoutMs / 4),
  );
  return () => clearInterval(timer);
}

const tooBig = ({ field, maximumBytes }: ReceiveOptions) =>
  new DomainError('PAYLOAD_TOO_LARGE', `must have at most ${maximumBytes} bytes`, { field });

/** The parser's own codes (FormidableError.js) as our refusals. */
const parserRefusals: Record<number, (options: ReceiveOptions) => DomainError> = {
  1006: () => new DomainError('REQUEST_INVALID', 'The fields beside the file are too long'),
  1007: () => new DomainError('REQUEST_INVALID', 'There are too many fields beside the file'),
  1008: ({ field }) => new DomainError('REQUEST_INVALID', 'must not be empty', { field }),
  1009: tooBig,
  1010: ({ field }) => new DomainError('REQUEST_INVALID', 'must not be empty', { field }),
  1015: ({ field }) => new DomainError('REQUEST_INVALID', 'exactly one file is required', { field }),
  1016: tooBig,
};
const diskFull = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** An error of the parser, the connection or the disk as our refusal; any other stays as it is. */
function asRefusal(error: unknown, { req }: Context, options: ReceiveOptions): unknown {
  if (isDomainError(error)) return error;
  const code = errorCodeOf(error);
  const refusal = typeof code === 'number' ? parserRefusals[code] : undefined;
  if (refusal) return refusal(options);
  if (diskFull.has(code)) {
    const message = 'There is no room for uploads for a moment; try again';
    return new DomainError('SERVICE_UNAVAILABLE', message, { cause: error, retryAfterSeconds: 10 });
  }
  const isParsers = typeof error === 'object' && error !== null && 'httpCode' in error;
  if (!isParsers && req.complete) return error;
  const message = 'The body is not well-formed multipart/form-data, or ended early';
  return new DomainError('REQUEST_INVALID', message, { cause: error });
}

/** Reads on and discards, within bounds: closing the connection while the client still sends would lose the answer. */
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
