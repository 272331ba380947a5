import type { CircleOpening, CircleStep } from '../src/circles/circle-contract.ts';
import { moveCircle } from '../src/circles/move-circle.ts';
import { openCircle } from '../src/circles/open-circle.ts';
import { sweepCircles } from '../src/circles/sweep-circles.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { repeating, reportSweepFailure, step } from './step.ts';

/** Activities of saving circles; each is idempotent and returns the circle's progress. */
export function createCircleActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { sealer, prover, workflows } = deps;
  return {
    openCircle: step(
      deps,
      'openCircle',
      (em, { circleId, opening }: { circleId: string; opening: Proved<CircleOpening> | null }) =>
        openCircle(em, sealer, {
          circleId,
          opening: opening && provenOpening(prover, { kind: 'saving_circle', resourceId: circleId }, opening),
        }),
    ),
    moveCircle: step(deps, 'moveCircle', (em, input: CircleStep) => repeating(moveCircle(em, deps, input))),
    sweepSavingCircles: step(deps, 'sweepSavingCircles', (em, _: object) => sweepCircles(em, workflows, failed)),
  };
}
