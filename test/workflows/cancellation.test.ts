import { buildActiveCircle, circleWhen, contribute } from '../circles/build-circle.ts';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  settleAtProvider,
  transfersOf,
} from '../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { buildOperators, decide } from '../support/decide.ts';
import { itInFull } from '../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { suspendedUnder } from '../support/suspended-receipt.ts';

/** An operator clicks “Request Cancellation” in the web UI. */
let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  payer = await buildIndividual(stack, { balance: '1000000' });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const handleOf = (id: string) => stack.deps.workflows.client.workflow.getHandle(id);
const detailsOf = async (id: string): Promise<string> => {
  const metadata = await handleOf(id).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
};
const asked = 'CANCELLATION WAS REQUESTED and changes nothing';

/** Requests cancellation, and waits until the workflow's details report that it continues and what it waits for. */
async function requestCancellation(id: string): Promise<string> {
  const before = await eventually(
    () => detailsOf(id),
    (details) => details !== '',
  );
  expect(before).not.toContain(asked);
  await handleOf(id).cancel();
  const after = await eventually(
    () => detailsOf(id),
    (details) => details.includes(asked),
  );
  expect((await handleOf(id).describe()).status.name).toBe('RUNNING');
  return after.replace(/\s+CANCELLATION.*$/s, '');
}

const topUp = async () => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
};
const statusOf = async (id: string) =>
  (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;

describe('Cancellation requests to workflows that handle money', () => {
  it('A payment workflow ignores cancellation and says so in its details, and can still be paid', async () => {
    const [order, other] = [await topUp(), await topUp()];
    const id = `gateway-payment/${order.payment_order_id}`;
    expect(await (await handleOf(id).describe()).staticDetails()).toBe(
      `[Find it in the console](${stack.url}/operations/search?q=${order.payment_order_id})`,
    );
    expect(await requestCancellation(id)).toContain('Deadline');
    expect(await detailsOf(`gateway-payment/${other.payment_order_id}`)).not.toContain(asked);
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    await eventually(
      () => statusOf(order.payment_order_id),
      (status) => status === 'PAID',
    );
    expect(await handleOf(id).result()).toBe('PAID');
    expect(await detailsOf(id)).toContain(asked);
  });

  it('A payout workflow ignores cancellation: the provider’s later callback still completes it', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    await requestCancellation(`partner-payout/${id}`);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded');
    expect(await handleOf(`partner-payout/${id}`).result()).toBe('succeeded');
  });

  itInFull('A suspense workflow ignores cancellation: a later decision by two people still completes it', async () => {
    const order = await topUp();
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
    const receiptId = await suspendedUnder(stack, order.payment_order_id);
    const id = `unmatched-receipt/${receiptId}`;
    await eventually(
      () => detailsOf(id),
      (details) => details.includes('in suspense'),
    );
    expect(await requestCancellation(id)).toContain('in suspense');
    const credit = {
      kind: 'settle_receipt',
      receipt_id: receiptId,
      action: 'credit',
      account_id: payer.accountId,
    };
    expect(await decide(stack, await buildOperators(stack), credit)).toMatchObject({ status: 'carried_out' });
    expect(await handleOf(id).result()).toBe('credited');
  });

  itInFull('A saving circle’s workflow ignores cancellation: its round still completes', async () => {
    const circle = await buildActiveCircle(stack, 2);
    await requestCancellation(`saving-circle/${circle.id}`);
    for (const member of circle.members) expect((await contribute(stack, member, circle.id)).status).toBe(201);
    await circleWhen(stack, circle.creator, circle.id, { current_turn: 2 });
    expect((await handleOf(`saving-circle/${circle.id}`).describe()).status.name).toBe('RUNNING');
  });
});

describe('Scheduled workflows', () => {
  it('A scheduled workflow can be cancelled', async () => {
    const { client, taskQueue } = stack.deps.workflows;
    const workflowId = `compare-clearing/${Date.now()}`;
    const handle = await client.workflow.start('compareClearing', { workflowId, taskQueue });
    await eventually(
      () => detailsOf(workflowId),
      (details) => details.includes('judged in ten minutes'),
    );
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });
});
