import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { ageAttempts, generous, readBalance, setFaults, sharedFailpoints } from '../payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refund, refundWhen, toBank } from './build-refunds.ts';
import { giveUpStep } from './give-up-step.ts';

let stack: ProcessStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
beforeEach(async () => {
  partner = await buildPartner(stack, { limits: generous });
});
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

/** Each failpoint of a refund's own first activity, and of the activities that all payouts share. */
const failpoints = ['reserve-refund.before', 'reserve-refund.after', ...sharedFailpoints];
const ways = [
  ['to a wallet', { method: 'ewallet', channel: 'DANA', amount: '50000' }, {}],
  ['by transfer', { method: 'virtual_account', channel: 'BCA', amount: '50000' }, toBank()],
] as const;
type Answer = Awaited<ReturnType<typeof askRefund>> | null;
const cases = failpoints.flatMap((failpoint) => ways.map((way) => [failpoint, ...way] as const));
/** Outside the full run only refunds' own failpoints, one for each way: `withdrawals/kill` covers the shared ones. */
const chosen = isFullRun()
  ? cases
  : cases.filter(([failpoint, way]) =>
      /^reserve-refund.before to a|^reserve-refund.after by/.test(`${failpoint} ${way}`),
    );

it('Refunds whose worker is killed with -9, each at another step, are each sent once', async () => {
  const asked: { failpoint: string; one: BuiltPartner; paymentId: string; asking: Promise<Answer> }[] = [];
  for (const [failpoint, , paid, bank] of chosen.toReversed()) {
    const one = await buildPartner(stack, { limits: generous });
    const paymentId = await buildPaid(stack, one, paid);
    const key = freshKey();
    const ask = () =>
      eventually(
        () => askRefund(one, paymentId, bank, key).catch(() => null),
        (answer) => answer?.status === 200,
        90_000,
      );
    await stack.holdAt(failpoint, () => asked.push({ failpoint, one, paymentId, asking: ask() }));
  }
  await stack.kill('worker');
  await stack.restart();
  for (const { failpoint, one, paymentId, asking } of asked) {
    const made = (await asking)?.body.data;
    if (failpoint === 'send-transfer.attempt-written') {
      // Its worker died between storing the attempt and the request: nothing was sent, as the provider confirms.
      await eventually(
        () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [made.id]),
        ([row]) => row?.word === 'not known',
      );
      expect(await atProvider(stack, made.id)).toMatchObject({ refunds: [], transfers: [] });
      await ageAttempts(stack, made.id, 2);
    }
    await refundWhen(one, made, 'succeeded', 90_000);
    const { refunds, transfers } = await atProvider(stack, made.id);
    expect(refunds.length + transfers.length).toBe(1);
    expect((await one.get(`/payments/${paymentId}/refunds`)).body.data.total).toBe(1);
    expect(await readBalance(one)).toMatchObject({ available: '0.0000', pending: '0.0000' });
  }
}, 400_000);

itInFull(
  'A refund whose worker is killed before the request is not sent if an earlier refund was paid after all',
  async () => {
    const paymentId = await buildPaid(stack, partner);
    const first = await refund(partner, paymentId, { amount: '999999' });
    await refundWhen(partner, first, 'failed', 60_000);
    stack.arm('send-transfer.attempt-written=kill');
    const dying = stack.worker.exited;
    const asking = askRefund(partner, paymentId, toBank());
    await dying;
    await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: first.id, status: 'SUCCEEDED' });
    await stack.restart();
    const { id } = (await asking).body.data;
    if (!isFullRun()) await giveUpStep(stack, `payment-refund/${id}`);
    const wordOf = (ofId: string, word: string) =>
      eventually(
        () => stack.em().execute<{ last_word: string }[]>('select last_word from payouts where id = ?', [ofId]),
        ([row]) => row?.last_word === word,
        90_000,
      );
    await wordOf(first.id, 'succeeded');
    await wordOf(id, 'not known');
    await ageAttempts(stack, id, 3);
    const [before] = await stack.em().execute<{ asks: number }[]>('select asks from payouts where id = ?', [id]);
    await stack.deps.workflows.hintPayout({ id, kind: 'payment_refund' });
    await eventually(
      () => stack.em().execute<{ asks: number }[]>('select asks from payouts where id = ?', [id]),
      ([row]) => (row?.asks ?? 0) > (before?.asks ?? 0),
      60_000,
    );
    // A second request would follow the answer within the same activity.
    const { client } = stack.deps.workflows;
    await eventually(
      async () => (await client.workflow.getHandle(`payment-refund/${id}`).describe()).raw.pendingActivities ?? [],
      (pending) => pending.length === 0,
    );
    const attempts = await stack.em().execute<unknown[]>('select 1 from payout_attempts where payout_id = ?', [id]);
    expect(attempts).toHaveLength(1);
    expect(await atProvider(stack, id)).toMatchObject({ transfers: [] });
  },
  240_000,
);
