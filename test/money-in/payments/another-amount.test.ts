import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildOperators, decide, type Operators } from '../../support/decide.ts';
import { casesOf } from '../../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A payer pays a wrong amount: the money goes to suspense, and then where operators decide. */
let stack: Stack;
let operators: Operators;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack);
});

const asked = 50_000;
const gross = 54_000;

const orderWhen = (id: string, status: string) =>
  eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data,
    (order) => order.status === status,
  );
const heldFor = async (reference: string): Promise<{ id: string; amount: string }[]> => {
  const { body } = await stack.get('/v1/receipts?status=suspended&limit=100', { token: operators.proposer.token });
  return body.data.items.filter((receipt: { reference: string }) => receipt.reference === reference);
};
const suspended = async () => Number(await balanceOf(stack, systemAccounts.suspense));

// The other cases are in collections/another-amount, for a partner's payment.
const others: [string, number][] = [
  ['less than requested', gross - 1],
  ['more than requested', gross + 1],
];
describe.each(casesOf(others))('Money that is %s', (_, amount) => {
  it.each(casesOf(['credit', 'refund'] as const, (action) => (action === 'credit') === amount < gross))(
    'Operators can %s money of the wrong amount, and the right amount still settles the order',
    async (action) => {
      const before = await suspended();
      const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: asked };
      const { data: order } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
      const { payment_order_id: id, payment_code } = order;

      await stack.sandbox.post('/sandbox/pay', { payment_code, amount });
      const [receipt] = await eventually(
        () => heldFor(id),
        (held) => held.length === 1,
      );
      expect(receipt).toMatchObject({ amount: `${amount}.0000` });
      expect((await suspended()) - before).toBe(amount);
      expect((await orderWhen(id, 'WAITING_PAYMENT')).status).toBe('WAITING_PAYMENT');
      expect(await balanceOf(stack, payer.accountId)).toBe('0.0000');

      await stack.sandbox.post('/sandbox/pay', { payment_code });
      await orderWhen(id, 'PAID');
      expect(await balanceOf(stack, payer.accountId)).toBe(`${asked}.0000`);
      expect((await suspended()) - before).toBe(amount);

      const account_id = payer.accountId;
      const proposal = { kind: 'settle_receipt', receipt_id: receipt?.id, action };
      const decision = { ...proposal, ...(action === 'credit' && { account_id }) };
      expect(await decide(stack, operators, decision)).toMatchObject({ status: 'carried_out' });
      expect(await heldFor(id)).toEqual([]);
      expect((await suspended()) - before).toBe(0);
      const owned = asked + (action === 'credit' ? amount : 0);
      expect(await balanceOf(stack, payer.accountId)).toBe(`${owned}.0000`);
      const path = `/v1/accounts/${account_id}/statement`;
      const { data } = (await stack.get(path, { token: payer.token })).body;
      expect(data.closing_balance).toBe(`${owned}.0000`);
      expect(data.postings).toHaveLength(action === 'credit' ? 2 : 1);
    },
  );
});
