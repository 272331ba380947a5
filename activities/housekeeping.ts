import type { EntityManager } from '@mikro-orm/postgresql';
import { destroyOrderKeys } from '../src/partners/destroy-order-keys.ts';
import { settleKeys } from '../src/people/identity/settle-keys.ts';
import { makeComingMonths } from '../src/platform/housekeeping/make-months.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { forgetOldRows } from '../src/wiring/forget-old-rows.ts';
import { forgetScheduledRuns } from '../src/wiring/temporal/forget-scheduled-runs.ts';
import { step } from './step.ts';

/**
 * The housekeeping activity: deletes rows, keys of people and histories of sweeps past their retention time, and
 * creates the partitions of coming months.
 */
export function createHousekeepingActivities(deps: Dependencies) {
  const bodiesKeptDays = deps.config.BODIES_KEPT_DAYS;
  return {
    forgetOldRows: step(deps, 'forgetOldRows', async (em, _: object) => {
      // These run afterwards, the last one first; a failing one does not stop the others.
      await using afterwards = new AsyncDisposableStack();
      afterwards.defer(async () => {
        await forgetScheduledRuns(deps.workflows.client, deps.workflows.taskQueue);
      });
      afterwards.defer(() => lookAfterKeys(deps, em.fork()));
      afterwards.defer(async () => {
        await makeComingMonths(em);
      });
      return await forgetOldRows(em, { bodiesKeptDays });
    }),
  };
}

async function lookAfterKeys({ config, personalKeys }: Dependencies, em: EntityManager): Promise<void> {
  const days = config.CUSTOMERS_KEPT_DAYS;
  try {
    await settleKeys(em, personalKeys);
  } finally {
    if (days !== undefined) await destroyOrderKeys(em, personalKeys, days);
  }
}
