import type { CircleStep } from '../src/circles/circle-contract.ts';
import { moveCircleWhenDue } from '../src/circles/move-circle.ts';
import { sweepCircles } from '../src/circles/sweep-circles.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { repeating, reportSweepFailure, step } from './step.ts';

/** Activities of saving circles: the next step, idempotent, which returns the circle's progress, and the sweep. */
export function createCircleActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { workflows } = deps;
  const dueBy = { skipsTime: deps.config.TEMPORAL_SKIPS_TIME };
  return {
    moveCircle: step(deps, 'moveCircle', (em, input: CircleStep) =>
      repeating(moveCircleWhenDue(em, deps, input, dueBy)),
    ),
    sweepSavingCircles: step(deps, 'sweepSavingCircles', (em, _: object) => sweepCircles(em, workflows, failed)),
  };
}
