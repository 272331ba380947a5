import proto from '@temporalio/proto';
import { buildPayer, buildUnknownPayout, readBalance, readPayout, setFaults } from '../payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../support/decide.ts';
import { itInFull } from '../support/full.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let operators: Operators;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack({ env: { PAYOUT_RESEND_HOURS: '0' } });
  operators = await buildOperators(stack);
  partner = await buildPayer(stack, { available: '100000000' });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

/** Each way to die, once the approval was asked for. */
const deaths: [string, string | null, () => Promise<unknown>][] = [
  ['its worker at what was just written', 'after', () => stack.worker.exited],
  ['the API that was asked, while the provider does not answer', null, () => stack.kill('api')],
  ['the worker, while the provider does not answer it', null, () => stack.kill('worker')],
  ['both, while the provider does not answer', null, () => Promise.all([stack.kill('api'), stack.kill('worker')])],
];
const cases = isFullRun() ? deaths : deaths.slice(0, 1);

/** Approves while somebody dies, and does not wait for the answer. */
async function approveWhileDying(id: string, failpoint: string, die: () => Promise<unknown>, when: string | null) {
  if (when === null) await setFaults(stack, { requests: { hang_rate: 1 } });
  else stack.arm(`${failpoint}=kill`);
  const asked = approve(stack, operators, id).catch(() => null);
  const isApproved = 'select 1 from decisions where id = ? and approved_by is not null';
  await eventually(
    () => stack.em().execute<unknown[]>(isApproved, [id]),
    (rows) => rows.length === 1,
  );
  await die();
  await setFaults(stack, {});
  await stack.restart();
  return { asked };
}
/** Approves again until it is told what became of it. */
async function approveUntilTold(id: string) {
  await eventually(
    () => approve(stack, operators, id).catch(() => null),
    (answer) => answer?.status === 200 || answer?.status === 400,
    90_000,
  );
  return read(id);
}
const read = async (id: string) =>
  (await stack.get(`/v1/decisions/${id}`, { token: operators.proposer.token })).body.data;
const countEvents = async (resourceId: string, event: string) =>
  (await stack.em().execute<unknown[]>('select 1 from events where resource_id = ? and event = ?', [resourceId, event]))
    .length;

const proposed = async (proposal: object): Promise<string> => (await propose(stack, operators, proposal)).body.data.id;
async function buildReceipt({ accountId, token }: BuiltUser): Promise<string> {
  const body = { reference_type: 'account_top_up', reference_id: accountId, payment_id: 1, amount: 50_000 };
  const order = (await stack.post('/v1/payments/gateway', body, { token })).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
  const [receipt] = await eventually(
    () => stack.em().execute<{ id: string }[]>('select id from receipts where reference = ?', [order.payment_order_id]),
    (rows) => rows.length === 1,
    30_000,
  );
  return String(receipt?.id);
}
const failing = (payout_id: string) => ({ kind: 'settle_payout', payout_id, outcome: 'failed' });

describe.each(cases)('When %s is killed with -9 while a decision is carried out', (_, when, die) => {
  it('a payout ends once, as decided, and money in suspense is credited once', async () => {
    const payoutId = await buildUnknownPayout(stack, partner);
    const ending = await proposed(failing(payoutId));
    const payer = await buildIndividual(stack);
    const receipt_id = await buildReceipt(payer);
    const credit = { kind: 'settle_receipt', receipt_id, action: 'credit', account_id: payer.accountId };
    const crediting = await proposed(credit);
    const before = await readBalance(partner);

    // What the dead worker had begun is given up for both at the same time.
    const asked = [await approveWhileDying(ending, 'settle-payout.after', die, when)];
    asked.push(await approveWhileDying(crediting, 'settle-receipt.after', die, when));
    for (const one of asked) await one.asked;

    const ended = await approveUntilTold(ending);
    expect(ended).toMatchObject({ status: 'carried_out', approved_by: operators.approver.id, reason: null });
    expect(Number((await readBalance(partner)).available) - Number(before.available)).toBe(100_000);
    expect(await countEvents(payoutId, 'PAYOUT_SETTLED')).toBe(1);
    expect(await countEvents(ending, 'DECISION_APPROVED')).toBe(1);
    expect(await countEvents(ending, 'DECISION_CARRIED_OUT')).toBe(1);
    expect(await approveUntilTold(crediting)).toMatchObject({ status: 'carried_out', reason: null });
    expect(await balanceOf(stack, payer.accountId)).toBe('1000.0000');
    expect(await countEvents(crediting, 'DECISION_CARRIED_OUT')).toBe(1);
  }, 240_000);
});

describe('A step’s result forged through Temporal', () => {
  /** An approval under way whose step waits for the provider. */
  async function approveWithASilentProvider() {
    const payoutId = await buildUnknownPayout(stack, partner);
    const id = await proposed(failing(payoutId));
    await setFaults(stack, { requests: { hang_rate: 1 } });
    const asked = approve(stack, operators, id);
    const { client } = stack.deps.workflows;
    const workflowId = `partner-payout/${payoutId}`;
    // Only a step that a worker has taken can be answered.
    const { PENDING_ACTIVITY_STATE_STARTED: taken } = proto.temporal.api.enums.v1.PendingActivityState;
    const settling = await eventually(
      async () => {
        const { raw } = await client.workflow.getHandle(workflowId).describe();
        return raw.pendingActivities?.find(
          ({ activityType, state }) => activityType?.name === 'settlePayout' && state === taken,
        );
      },
      (step) => step !== undefined,
    );
    const activityId = settling?.activityId ?? '';
    return { payoutId, id, asked, client, workflowId, activityId };
  }

  it('refuses no decision: one whose step was failed by hand is carried out anyway', async () => {
    const { payoutId, asked, client, workflowId, activityId } = await approveWithASilentProvider();
    await client.workflowService.respondActivityTaskFailedById({
      namespace: 'default',
      workflowId,
      activityId,
      failure: { message: 'it was paid', applicationFailureInfo: { type: 'REQUEST_INVALID', nonRetryable: true } },
    });
    await setFaults(stack, {});
    expect((await asked).body.data).toMatchObject({ status: 'carried_out', reason: null });
    expect((await readPayout(partner, payoutId)).status).toBe('failed');
  });

  itInFull(
    'carries out no decision: one whose step was answered by hand is carried out by the next approval',
    async () => {
      const { payoutId, id, asked, client, workflowId, activityId } = await approveWithASilentProvider();
      await stack.kill('worker');
      const standing = { status: 'pending', reservedAt: new Date().toISOString(), unknownSince: null, deliveryIds: [] };
      await client.workflowService.respondActivityTaskCompletedById({
        namespace: 'default',
        workflowId,
        activityId,
        result: {
          payloads: [
            { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(standing)) },
          ],
        },
      });
      await setFaults(stack, {});
      await stack.restart();
      await asked;
      // By the answer to this approval, or to the next one.
      await eventually(
        () => approve(stack, operators, id),
        ({ status }) => status !== 503,
        60_000,
      );
      expect(await read(id)).toMatchObject({ status: 'carried_out', reason: null });
      expect((await readPayout(partner, payoutId)).status).toBe('failed');
    },
    120_000,
  );
});
