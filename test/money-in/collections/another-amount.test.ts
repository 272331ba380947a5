import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { balanceOf } from '../../support/build.ts';
import { buildOperators, decide, type Operators } from '../../support/decide.ts';
import { casesOf } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A partner's customer pays a wrong amount: the money goes to suspense, and then where operators decide. */
let stack: Stack;
let operators: Operators;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
beforeEach(async () => {
  partner = await buildPartner(stack, {
    fees: [{ method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500' }],
  });
});

const asked = 50_000;
const net = 46_000;

const paymentWhen = (id: string, status: string) =>
  eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data,
    (payment) => payment.status === status,
  );
const heldFor = async (reference: string): Promise<{ id: string; amount: string; reason: string }[]> => {
  const { body } = await stack.get('/v1/receipts?status=suspended&limit=100', { token: operators.proposer.token });
  return body.data.items.filter((receipt: { reference: string }) => receipt.reference === reference);
};
const suspended = async () => Number(await balanceOf(stack, systemAccounts.suspense));
const textsOf = async (id: string): Promise<string[]> =>
  (await partner.get(`/payments/${id}/timeline`)).body.data.items.map(({ text }: { text: string }) => text);
const balance = async () => (await partner.get('/balance')).body.data;

const cases = ['credit', 'refund'].flatMap((action) => [
  ['more than requested', action, asked + 1] as const,
  ['less than requested', action, asked - 1] as const,
]);
/** Covers both kinds: the higher amount is credited, the lower refunded. */
const standing = ([, action, amount]: (typeof cases)[number]) => (action === 'credit') === amount > asked;

describe('Money for a partner’s payment', () => {
  it.each(casesOf(cases, standing))(
    'Money that is %s for a partner’s payment is suspended until operators %s it; the right amount settles the payment',
    async (_, action, amount) => {
      const before = await suspended();
      const body = { method: 'virtual_account', channel: 'BCA', amount: String(asked) };
      const { id, payment_code } = (await partner.post('/payments', body)).body.data;

      await stack.sandbox.post('/sandbox/pay', { payment_code, amount });
      const [receipt] = await eventually(
        () => heldFor(id),
        (held) => held.length === 1,
      );
      expect(receipt).toMatchObject({ amount: `${amount}.0000`, reason: 'wrong_amount' });
      expect((await suspended()) - before).toBe(amount);
      expect(await paymentWhen(id, 'pending')).toMatchObject({ is_final: false, finalized_at: null });
      expect(await balance()).toMatchObject({ balance: '0.0000', available: '0.0000', pending: '0.0000' });
      const came = `IDR ${amount}.0000 arrived instead of the amount due (wrong amount)`;
      expect(await textsOf(id)).toContain(`${came} and is held for the operators.`);

      await stack.sandbox.post('/sandbox/pay', { payment_code });
      await paymentWhen(id, 'succeeded');
      expect(await balance()).toMatchObject({ available: `${net}.0000`, pending: '0.0000' });
      expect((await suspended()) - before).toBe(amount);

      const account_id = partner.account.available;
      const proposal = { kind: 'settle_receipt', receipt_id: receipt?.id, action };
      const decision = { ...proposal, ...(action === 'credit' && { account_id }) };
      expect(await decide(stack, operators, decision)).toMatchObject({ status: 'carried_out' });
      expect(await heldFor(id)).toEqual([]);
      expect((await suspended()) - before).toBe(0);
      const texts = await textsOf(id);
      expect(texts).toContain(`${came} and was held for the operators.`);
      const went = action === 'credit' ? 'credited to your available balance.' : 'refunded by the provider.';
      expect(texts).toContain(`IDR ${amount}.0000 that was held was ${went}`);
      expect(JSON.stringify(texts)).not.toContain('is held');
      const owned = net + (action === 'credit' ? amount : 0);
      expect(await balance()).toMatchObject({ available: `${owned}.0000`, pending: '0.0000' });
      // The payment's amounts do not include the money of the decision.
      expect(await paymentWhen(id, 'succeeded')).toMatchObject({ amount: `${asked}.0000`, net_amount: `${net}.0000` });
    },
  );
});
