import { sweepDecisions } from '../src/decisions/sweep-decisions.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

/** Activities of decisions; what a decision is about carries it out, in the activities of its own domain. */
export function createDecisionActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  return {
    sweepDecisions: step(deps, 'sweepDecisions', (em, _: object) => sweepDecisions(em, deps, failed)),
  };
}
