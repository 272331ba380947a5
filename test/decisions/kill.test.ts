import { ageAttempts, buildPayer, buildUnknownPayout, readBalance, setFaults } from '../payouts/build-payouts.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../support/decide.ts';
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

/** Approves while somebody dies, and then again until it is told what became of it. */
async function approveThrough(id: string, failpoint: string, die: () => Promise<unknown>, when: string | null) {
  if (when === null) await setFaults(stack, { requests: { hang_rate: 1 } });
  else stack.arm(`${failpoint}=kill`);
  const asked = approve(stack, operators, id).catch(() => null);
  const isApproved = 'select 1 from decisions where id = ? and approved_by is not null';
  await eventually(
    () => stack.em().execute<unknown[]>(isApproved, [id]),
    (rows) => rows.length === 1,
  );
  await die();
  await asked;
  await setFaults(stack, {});
  await stack.restart();
  await eventually(
    () => approve(stack, operators, id).catch(() => null),
    (answer) => answer?.status === 200 || answer?.status === 400,
    90_000,
  );
  return (await stack.get(`/v1/decisions/${id}`, { token: operators.proposer.token })).body.data;
}
const countEvents = async (resourceId: string, event: string) =>
  (await stack.em().execute<unknown[]>('select 1 from events where resource_id = ? and event = ?', [resourceId, event]))
    .length;

describe.each(cases)('When %s is killed with -9 while a decision is carried out', (_, when, die) => {
  it('the payout ends once, as decided', async () => {
    const payoutId = await buildUnknownPayout(stack, partner);
    await ageAttempts(stack, payoutId, 2);
    const proposal = { kind: 'settle_payout', payout_id: payoutId, outcome: 'failed' };
    const { id } = (await propose(stack, operators, proposal)).body.data;
    const before = await readBalance(partner);
    const decision = await approveThrough(id, 'settle-payout.after', die, when);
    expect(decision).toMatchObject({ status: 'carried_out', approved_by: operators.approver.id, reason: null });
    expect(Number((await readBalance(partner)).available) - Number(before.available)).toBe(100_000);
    expect(await countEvents(payoutId, 'PAYOUT_SETTLED')).toBe(1);
    expect(await countEvents(id, 'DECISION_APPROVED')).toBe(1);
    expect(await countEvents(id, 'DECISION_CARRIED_OUT')).toBe(1);
  }, 180_000);

  it('money in suspense is credited once', async () => {
    const payer: BuiltUser = await buildIndividual(stack);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const order = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
    const [receipt] = await eventually(
      () =>
        stack.em().execute<{ id: string }[]>('select id from receipts where reference = ?', [order.payment_order_id]),
      (rows) => rows.length === 1,
      30_000,
    );
    const receipt_id = String(receipt?.id);
    const proposal = { kind: 'settle_receipt', receipt_id, action: 'credit', account_id: payer.accountId };
    const { id } = (await propose(stack, operators, proposal)).body.data;
    const decision = await approveThrough(id, 'settle-receipt.after', die, when);
    expect(decision).toMatchObject({ status: 'carried_out', reason: null });
    expect(await balanceOf(stack, payer.accountId)).toBe('1000.0000');
    expect(await countEvents(id, 'DECISION_CARRIED_OUT')).toBe(1);
  }, 180_000);
});
