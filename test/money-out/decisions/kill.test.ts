import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../../support/decide.ts';
import { casesOf } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
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

/** Retries the approval until its outcome is known. */
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

/** Approves without waiting for the answer. */
const approving = (id: string) => approve(stack, operators, id).catch(() => null);
const untilApproved = (id: string) =>
  eventually(
    () => stack.em().execute<unknown[]>('select 1 from decisions where id = ? and approved_by is not null', [id]),
    (rows) => rows.length === 1,
  );
/** Each way to die, with decisions about a payout and a receipt in progress. */
const deaths: [string, (ending: string, crediting: string) => Promise<unknown>][] = [
  [
    'right after its commit',
    async (ending, crediting) => {
      const asked: Promise<unknown>[] = [];
      await stack.holdAt('settle-payout.after', () => asked.push(approving(ending)));
      await stack.holdAt('settle-receipt.after', () => asked.push(approving(crediting)));
      await stack.kill('api');
      await Promise.all(asked);
    },
  ],
  [
    'while the provider does not answer',
    async (ending, crediting) => {
      await setFaults(stack, { requests: { hang_rate: 1 } });
      const asked = [approving(ending), approving(crediting)];
      await Promise.all([ending, crediting].map(untilApproved));
      await stack.kill('api');
      await Promise.all(asked);
      await setFaults(stack, {});
    },
  ],
];

describe.each(casesOf(deaths))('An API killed with -9 while it executes decisions, %s', (_, die) => {
  it('Decisions settle a payout and credit money in suspense once when the API is killed', async () => {
    const payoutId = await buildUnknownPayout(stack, partner);
    const ending = await proposed(failing(payoutId));
    const payer = await buildIndividual(stack);
    const receipt_id = await buildReceipt(payer);
    const credit = { kind: 'settle_receipt', receipt_id, action: 'credit', account_id: payer.accountId };
    const crediting = await proposed(credit);
    const before = await readBalance(partner);

    await die(ending, crediting);
    await stack.restart();

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
