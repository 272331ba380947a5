import { Readable } from 'node:stream';
import type { Storage } from '../../platform/storage/storage.ts';
import { sha256 } from '../../shared/digest.ts';
import { isUuid } from '../../shared/uuid.ts';

/**
 * The register of erasures: an object for each person in the file store, which restoring a database does not affect. It
 * contains ids and times, but no names.
 */
const prefix = 'erasures/';

/** Enters a person into the register; idempotent. Throws SERVICE_UNAVAILABLE when the store is down. */
export async function enterErasure(storage: Storage, userId: string, erasedAt: Date): Promise<void> {
  const text = `${JSON.stringify({ user_id: userId, erased_at: erasedAt.toISOString() })}\n`;
  await storage.put(
    `${prefix}${userId}`,
    { contentType: 'application/json', sizeBytes: Buffer.byteLength(text), sha256: sha256(text) },
    Readable.from([Buffer.from(text)]),
  );
}

/** Yields the ids of all people in the register, in batches of at most a thousand. Throws like `enterErasure`. */
export async function* readRegister(storage: Storage): AsyncGenerator<string[], void, undefined> {
  let part: string[] = [];
  for await (const key of storage.list(prefix)) {
    const id = key.slice(prefix.length);
    if (isUuid(id)) part.push(id);
    if (part.length < 1000) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
