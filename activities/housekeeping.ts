import { withTime } from '../src/database/database-time-outs.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { forgetOldRows } from '../src/housekeeping/forget-old-rows.ts';
import { budgets } from '../src/shared/budgets.ts';
import { step } from './step.ts';

/** Activities of no domain: deletion of rows past their retention time. */
export function createHousekeepingActivities(deps: Dependencies) {
  return {
    forgetOldRows: step(deps, 'forgetOldRows', (em, _: object) => withTime(em, budgets.database.sweep, forgetOldRows)),
  };
}
