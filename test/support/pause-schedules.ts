import { schedules } from '../../src/wiring/temporal/prepare.ts';
import { eventually } from './eventually.ts';
import type { Stack } from './stack.ts';

/**
 * Pauses schedules of the stack's worker, all by default, so that they do not claim rows that a test sweeps itself.
 */
export async function pauseSchedules(
  { deps: { workflows }, afterwards }: Stack,
  ids: readonly string[] = schedules.map(({ scheduleId }) => scheduleId),
): Promise<void> {
  for (const id of ids) {
    const handle = workflows.client.schedule.getHandle(`${workflows.taskQueue}/${id}`);
    afterwards(() => handle.unpause());
    await handle.pause();
    await eventually(
      // A busy server may not answer.
      () => handle.describe().catch(() => null),
      (schedule) => schedule?.info.runningActions.length === 0,
    );
  }
}
