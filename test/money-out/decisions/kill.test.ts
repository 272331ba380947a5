import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../../support/decide.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildPayer, buildUnknownPayout, readBalance, setFaults } from '../payouts/build-payouts.ts';

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
  ['at what it has just written', 'after', () => stack.api.exited],
  ['while the provider does not answer', null, () => stack.kill('api')],
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

describe.each(cases)('When the API is killed with -9 while it carries a decision out, %s', (_, when, die) => {
  it('a payout ends once, as decided, and money in suspense is credited once', async () => {
    const payoutId = await buildUnknownPayout(stack, partner);
    const ending = await proposed(failing(payoutId));
    const payer = await buildIndividual(stack);
    const receipt_id = await buildReceipt(payer);
    const credit = { kind: 'settle_receipt', receipt_id, action: 'credit', account_id: payer.accountId };
    const crediting = await proposed(credit);
    const before = await readBalance(partner);

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
