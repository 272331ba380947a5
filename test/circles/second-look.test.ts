import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { workflowIds } from '../../src/shared/workflow-ids.ts';
import { openTemporal } from '../../src/wiring/temporal/connect.ts';
import { balanceOf } from '../support/build.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { buildActiveCircle, contribute, heldBy, readCircle } from './build-circle.ts';

let stack: ProcessStack;
let client: Client;
beforeAll(async () => {
  stack = await startProcessStack();
  client = openTemporal({ address: stack.env.TEMPORAL_ADDRESS ?? '', namespace: 'default' });
}, 90_000);
afterAll(async () => {
  await stack?.stop();
  await client?.connection.close();
});

/** Counts the signals that the current run of the circle's workflow has received. */
async function hintsOf(circleId: string): Promise<number> {
  const { events } = await client.workflow.getHandle(workflowIds.savingCircle(circleId)).fetchHistory();
  const name = 'circleChanged';
  return events?.filter(({ workflowExecutionSignaledEventAttributes: sent }) => sent?.signalName === name).length ?? 0;
}

/** Less than the minute after which a sweep could find the missed contribution. */
const beforeSweepsMs = 30_000;

describe('A contribution during the check of a circle', () => {
  it('A contribution that completes a round during a check triggers another check', async () => {
    const { id, creator, members } = await buildActiveCircle(stack, 2);
    const [first, last] = members as [typeof creator, typeof creator];
    const { worker } = stack;
    // The check has found one contribution missing, and its worker is paused before it can report that.
    const before = await hintsOf(id);
    stack.arm('move-circle.read=stop');
    expect((await contribute(stack, first, id)).status).toBe(201);
    try {
      await eventually(
        async () => readFileSync(`/proc/${worker.pid}/stat`, 'utf8').split(') ')[1]?.[0],
        (state) => state === 'T',
      );
      stack.arm('');
      expect((await contribute(stack, last, id)).status).toBe(201);
      await eventually(
        () => hintsOf(id),
        (hints) => hints >= before + 2,
      );
    } finally {
      worker.kill('SIGCONT');
    }
    await eventually(
      () => readCircle(stack, creator, id),
      (circle) => circle.current_turn === 2,
      beforeSweepsMs,
    );
    expect(await heldBy(stack, id)).toBe('0.0000');
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
    await expectChecksEmpty(stack);
  }, 120_000);
});
