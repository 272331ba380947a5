import { newId } from '../../../src/shared/ids.ts';
import { balanceOf, buildSuperAdmin } from '../../support/build.ts';
import { secureSession } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { expectChecksEmpty } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { setFaults, transfersOf } from '../payouts/build-payouts.ts';
import { buildWaitingDisbursement, type WaitingDisbursement, withdrawalWhen } from './build-withdrawals.ts';

let stack: ProcessStack;
/** Tokens of two platform users who may approve. */
let approvers: string[];
beforeAll(async () => {
  stack = await startProcessStack();
  approvers = await Promise.all(
    Array.from({ length: 2 }, async () => secureSession(stack, (await buildSuperAdmin(stack)).id)),
  );
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

/** Null if the API died before it answered. */
const approve = ({ decisionId }: WaitingDisbursement, which: number) =>
  stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token: approvers[which] ?? '' }).catch(() => null);

/** Runs the scheduled sweeps as if minutes had passed. */
async function sweepLater({ decisionId }: WaitingDisbursement): Promise<void> {
  const later =
    "update decisions set approved_at = approved_at - interval '2 minutes' where id = ? and status = 'pending'";
  await withoutTriggers(stack, later, [decisionId]);
  const { client, taskQueue } = stack.deps.workflows;
  // The first sweep executes decisions; the second finds their payouts.
  for (let turn = 0; turn < 2; turn += 1) {
    await client.workflow.execute('sweep', { workflowId: `test/${newId()}`, taskQueue, args: [] });
  }
}

/** Kills the API during an approval, restarts it and runs the sweeps. */
async function approveAndDie(it: WaitingDisbursement, which: number, failpoint: string): Promise<void> {
  stack.arm(`${failpoint}=kill`);
  const dying = stack.api.exited;
  expect(await approve(it, which)).toBeNull();
  await dying;
  await stack.restart();
  await sweepLater(it);
}

async function expectPaidOnce(it: WaitingDisbursement): Promise<void> {
  await withdrawalWhen(stack, it.owner, it.id, 'succeeded', 60_000);
  expect(await transfersOf(stack, it.id)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: it.id }]);
  expect(await balanceOf(stack, it.owner.accountId)).toBe('100000.0000');
  const events = async (event: string) =>
    (
      await stack
        .em()
        .execute<unknown[]>('select 1 from events where resource_id = ? and event = ?', [it.decisionId, event])
    ).length;
  expect([await events('DECISION_APPROVED'), await events('DECISION_CARRIED_OUT')]).toEqual([2, 1]);
  const [cause] = await stack
    .em()
    .execute<[{ status: string }]>('select status from charitable_causes where id = ?', [it.causeId]);
  expect(cause.status).toBe('in_progress');
}

describe('A disbursement approved by two people', () => {
  it('A disbursement is sent once when the API is killed during both approvals', async () => {
    const it = await buildWaitingDisbursement(stack);
    await approveAndDie(it, 0, 'approve-decision.approved');
    expect(await transfersOf(stack, it.id)).toEqual([]);
    expect((await approve(it, 0))?.status).toBe(403);
    await approveAndDie(it, 1, 'disburse.after');
    await expectPaidOnce(it);
  }, 120_000);

  itInFull(
    'A disbursement is sent once when the API is killed at approve-decision.approved of the second approval',
    async () => {
      const it = await buildWaitingDisbursement(stack);
      expect((await approve(it, 0))?.body.data).toMatchObject({ status: 'pending' });
      await approveAndDie(it, 1, 'approve-decision.approved');
      await expectPaidOnce(it);
    },
    120_000,
  );

  itInFull(
    'A disbursement is sent once when the API is killed after the first approval',
    async () => {
      const it = await buildWaitingDisbursement(stack);
      await approveAndDie(it, 0, 'approve-decision.approved');
      expect((await approve(it, 1))?.body.data).toMatchObject({ status: 'carried_out' });
      await expectPaidOnce(it);
    },
    120_000,
  );

  itInFull.each(['send-transfer.before', 'resolve-payout.before', 'resolve-payout.after'])(
    'A disbursement is sent once when its worker is killed with -9 at %s after the approvals',
    async (failpoint) => {
      const it = await buildWaitingDisbursement(stack);
      await approve(it, 0);
      stack.arm(`${failpoint}=kill`);
      const dying = stack.worker.exited;
      expect((await approve(it, 1))?.status).toBe(200);
      await dying;
      await stack.restart();
      await expectPaidOnce(it);
    },
    120_000,
  );
});
