import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { removeAbandonedFiles } from '../../platform/http/nameless-file.ts';
import type { Logger } from '../../platform/process/log.ts';
import { putTimeoutMs, type Storage } from '../../platform/storage/storage.ts';
import { forEachOf } from '../../shared/concurrency.ts';
import { abandonUpload } from './abandon-upload.ts';

/** An upload this old is no longer in progress: its put has timed out. */
export const abandonedAfterMs = putTimeoutMs + 60_000;
const sweepEveryMs = 30_000;
const uploadsPerSweep = 100;

interface SweepDependencies {
  storage: Storage;
  sealer: Sealer;
}

/**
 * Removes interrupted uploads and abandoned objects. Returns how many it examined. Continues after a failure and throws
 * at the end.
 */
export async function sweepUploads(
  em: EntityManager,
  deps: SweepDependencies,
  olderThanMs: number = abandonedAfterMs,
): Promise<number> {
  const uploads = await em.execute<{ id: string }[]>(
    `select id from document_uploads where created_at <= clock_timestamp() - ? * interval '1 millisecond'
     order by created_at limit ${uploadsPerSweep}`,
    [olderThanMs],
  );
  await forEachOf(uploads, ({ id }) => abandonUpload(em.fork(), deps, id));
  return uploads.length;
}

/**
 * Sweeps now and every half minute until the returned function is called, so that uploads of a killed process are
 * removed within five minutes of a start (docs/contract.md 7). Several processes may sweep at once.
 */
export function keepUploadsSwept(deps: SweepDependencies & { orm: { em: EntityManager }; log: Logger }): () => void {
  const sweep = async () => {
    try {
      await removeAbandonedFiles();
      const swept = await sweepUploads(deps.orm.em.fork(), deps);
      if (swept > 0) deps.log.info({ swept }, 'removed interrupted uploads');
    } catch (error) {
      deps.log.warn({ err: error }, 'could not sweep uploads; the next sweep tries again');
    }
  };
  void sweep();
  const timer = setInterval(() => void sweep(), sweepEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
