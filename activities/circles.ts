import type { CircleOpening, CircleStep } from '../src/circles/circle-contract.ts';
import { endOrders } from '../src/circles/end-orders.ts';
import { findProgress } from '../src/circles/find-progress.ts';
import { openCircle } from '../src/circles/open-circle.ts';
import { openRound } from '../src/circles/open-round.ts';
import { payRound } from '../src/circles/pay-round.ts';
import { reportDue, reportOverdue } from '../src/circles/report-missing.ts';
import { settleDefault } from '../src/circles/settle-default.ts';
import { payStandingOrders } from '../src/circles/standing-orders.ts';
import { startCircle } from '../src/circles/start-circle.ts';
import { sweepCircles } from '../src/circles/sweep-circles.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import { failpoint } from '../src/shared/failpoint.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { repeating, reportSweepFailure, step } from './step.ts';

/** Activities of saving circles, one per step of a round; each is idempotent and returns the circle's progress. */
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
    lookAtCircle: step(deps, 'lookAtCircle', async (em, { circleId }: CircleStep) => {
      await endOrders(em, { workflows }, circleId);
      const progress = await findProgress(em, circleId);
      await failpoint('look-at-circle.read');
      return progress;
    }),
    startCircle: step(deps, 'startCircle', (em, input: CircleStep) => startCircle(em, sealer, input)),
    openCircleRound: step(deps, 'openCircleRound', (em, input: CircleStep) => openRound(em, input)),
    payCircleRound: step(deps, 'payCircleRound', (em, input: CircleStep) => payRound(em, input)),
    reportOverdueContributions: step(deps, 'reportOverdueContributions', (em, input: CircleStep) =>
      reportOverdue(em, input),
    ),
    payCircleStandingOrders: step(deps, 'payCircleStandingOrders', (em, input: CircleStep) =>
      repeating(payStandingOrders(em, input)),
    ),
    reportDueContributions: step(deps, 'reportDueContributions', (em, input: CircleStep) => reportDue(em, input)),
    settleCircleDefault: step(deps, 'settleCircleDefault', (em, input: CircleStep) =>
      repeating(settleDefault(em, input)),
    ),
    sweepSavingCircles: step(deps, 'sweepSavingCircles', (em, _: object) => sweepCircles(em, workflows, failed)),
  };
}
