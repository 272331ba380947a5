import { schedules } from '../../src/wiring/temporal/prepare.ts';
import { eventually } from './eventually.ts';
import type { Stack } from './stack.ts';

/** Pauses schedules of the stack's worker, all by default: what they would claim is left to a test's own sweeps. */
export async function pauseSchedules(
  { deps: { workflows }, afterwards }: Stack,
  ids: readonly string[] = schedules.map(({ scheduleId }) => scheduleId),
): Promise<void> {
  for (const id of ids) {
    const handle = workflows.client.schedule.getHandle(`${workflows.taskQueue}/${id}`);
    afterwards(() => handle.unpause());
    await handle.pause();
    await eventually(
      // A busy server has not answered.
      () => handle.describe().catch(() => null),
      (schedule) => schedule?.info.runningActions.length === 0,
    );
  }
}
