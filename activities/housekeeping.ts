import { withTime } from '../src/database/database-time-outs.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { forgetOldRows } from '../src/housekeeping/forget-old-rows.ts';
import { settleKeys } from '../src/identity/settle-keys.ts';
import { budgets } from '../src/shared/budgets.ts';
import { step } from './step.ts';

/** Activities of no domain: deletion of rows past their retention time. */
export function createHousekeepingActivities(deps: Dependencies) {
  return {
    forgetOldRows: step(deps, 'forgetOldRows', async (em, _: object) => {
      const forgotten = await withTime(em, budgets.database.sweep, forgetOldRows);
      await settleKeys(em.fork(), deps.personalKeys);
      return forgotten;
    }),
  };
}
