import type { EntityManager } from '@mikro-orm/postgresql';
import { corruptions } from '../support/planted-corruptions.ts';

/** Planting waits for a lock no longer than this, because running transactions queue behind it. */
const lockWait = "set local lock_timeout = '500ms'";
const tries = 4;

/**
 * Plants a violation for each `check_*` view and rolls it back. Returns the views that did not show theirs, and the
 * views for which none could be planted beside the existing rows.
 */
export async function findBlindChecks(owner: EntityManager): Promise<{ blind: string[]; unproved: string[] }> {
  const planted = Map.groupBy(corruptions, ([view]) => view);
  const blind: string[] = [];
  const unproved: string[] = [];
  for (const [view, ways] of planted) {
    const shown: (boolean | null)[] = [];
    for (const [, sql] of ways) shown.push(await showsPlanted(owner.fork(), view, sql));
    if (shown.includes(false)) blind.push(view);
    else if (!shown.includes(true)) unproved.push(view);
  }
  return { blind, unproved };
}

/** Whether the view shows the violation; null if it could not be planted. */
async function showsPlanted(em: EntityManager, view: string, sql: string): Promise<boolean | null> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    await em.begin();
    try {
      await em.execute(lockWait);
      await em.execute("set local session_replication_role = 'replica'");
      await em.execute(sql);
      const rows = await em.execute<unknown[]>(`select 1 from "${view}" limit 1`);
      return rows.length > 0;
    } catch {
      // Another row has the same key, or the target is locked.
    } finally {
      await em.rollback();
    }
  }
  return null;
}
