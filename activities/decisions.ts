import { sweepDecisions } from '../src/money-out/decisions/carry-out.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of decisions; a decision is carried out by the activities of the domain it is about. */
export function createDecisionActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  return {
    sweepDecisions: step(deps, 'sweepDecisions', (em, _: object) => sweepDecisions(em, deps, failed)),
  };
}
