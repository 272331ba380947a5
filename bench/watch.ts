import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';

const lookEveryMs = 5;
const withinMs = 120_000;

/**
 * Returns a function that waits until a row is final, with one query for all waiting rows, to keep the load on the
 * database low. `sql` takes an array of ids and selects the final ones, as `id`. Waiting throws after two minutes.
 */
export function createWatch(em: () => EntityManager, sql: string): (id: string) => Promise<void> {
  const waiting = new Map<string, { ended: () => void; failed: (error: Error) => void; until: number }>();
  let isLooking = false;
  async function look(): Promise<void> {
    while (waiting.size > 0) {
      const rows = await em().execute<{ id: string }[]>(sql, [`{${[...waiting.keys()].join(',')}}`]);
      for (const { id } of rows) {
        waiting.get(id)?.ended();
        waiting.delete(id);
      }
      for (const [id, { until, failed }] of waiting) {
        if (performance.now() < until) continue;
        failed(new Error(`${id} was not final within two minutes`));
        waiting.delete(id);
      }
      await sleep(lookEveryMs);
    }
  }
  return (id) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.set(id, { ended: resolve, failed: reject, until: performance.now() + withinMs });
    if (!isLooking) {
      isLooking = true;
      look()
        .catch((error: Error) => {
          for (const { failed } of waiting.values()) failed(error);
          waiting.clear();
        })
        .finally(() => {
          isLooking = false;
        });
    }
    return promise;
  };
}
