import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { createOnce } from '../platform/openings/create-once.ts';
import { stampOpening } from '../platform/openings/stamp-opening.ts';
import { budgets } from '../shared/budgets.ts';
import { newId } from '../shared/ids.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { findCircle } from './find-circle.ts';
import { type CircleCreation, prepareCircle } from './prepare-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';

/** How long a creation waits for the circle's row, the first step of its workflow. */
const rowWaitMs = budgets.requests.circleRow;

/**
 * Creates a circle by starting its workflow, and waits at most ten seconds for its row. Throws as `prepareCircle`, and
 * SERVICE_UNAVAILABLE when nothing could be started.
 */
export async function createCircle(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<CircleWorkflows, 'startSavingCircle'> },
  creation: CircleCreation,
): Promise<SavingCircle> {
  const circleId = newId();
  const stamp = await stampOpening(em, { livesMs: rowWaitMs });
  const unavailable = 'The saving circle could not be started; try again';
  return createOnce(
    em,
    { resourceId: circleId, kind: 'saving_circle', stamp, isKeyed: false, unavailable },
    {
      find: (place) => findCircle(place, circleId),
      prepare: () => prepareCircle(em, sealer, { circleId, stamp, ...creation }),
      // Its id is of this request alone: no run of it is older than its row.
      start: (opening) => workflows.startSavingCircle(circleId, opening, rowWaitMs).then(() => null),
    },
  );
}
