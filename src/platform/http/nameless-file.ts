import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { newId } from '../../shared/ids.ts';

const prefix = 'amanah-upload-';
const chunkBytes = 256 * 1024;
const abandonedAfterMs = 60_000;

/** Opens a file that is already unlinked: it disappears when its handle closes, even if the process is killed. */
export async function openNamelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `${prefix}${newId()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

/** Returns a stream that appends to the file and does not close it. */
export function writeTo(handle: FileHandle): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void handle.writeFile(chunk).then(() => done(), done),
  });
}

/** Reads the first `sizeBytes` of the file, a chunk at a time. */
export function readFrom(handle: FileHandle, sizeBytes: number): Readable {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let position = 0; position < sizeBytes; ) {
      const length = Math.min(chunkBytes, sizeBytes - position);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error('a spooled file is shorter than the data written to it');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

/** Removes files of processes that were killed between creating a file and unlinking it. */
export async function removeAbandonedFiles(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const path of names.map((name) => join(tmpdir(), name))) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - abandonedAfterMs) await unlink(path).catch(() => {});
  }
}
