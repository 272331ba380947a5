import { backUp, restore } from '../control/reconciliation/restore.ts';
import { readBalance } from '../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
/** The partner's nets become available a day later: until then the workflows of its payments wait. */
let partner: BuiltPartner;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPartner(stack, { settlementDelayHours: 24 });
  payer = await buildIndividual(stack);
}, 60_000);
beforeEach(() => stack.owner().execute('drop schema if exists backup cascade'));
afterEach(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const collect = (key: string) => partner.post('/payments', { method: 'qris', amount: '50000' }, key);
const keep = (key: string) => partner.post('/instruments', { method: 'qris' }, key);
const topUp = async (key: string) => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const { token } = payer;
  const asked = await stack.post('/v1/payments/gateway', body, { token, headers: { 'idempotency-key': key } });
  // The key replays the first answer, so poll the order for its code.
  return stack.get(`/v1/payments/orders/${asked.body.data.payment_order_id}`, { token });
};
const payAtProvider = (payment_code: string) => stack.sandbox.post('/sandbox/pay', { payment_code });

/** Waits for success after waking the workflow, as a callback, the reconciliation or a sweep would. */
const succeededWhenHinted = (id: string) =>
  eventually(
    async () => {
      await stack.deps.workflows.hintPartnerPayment(id);
      return (await partner.get(`/payments/${id}`)).body.data.status;
    },
    (status) => status === 'succeeded',
    20_000,
  );

describe('A restore to before a payment was paid, while its net waits for its release', () => {
  it('A payment that a restore made unpaid is settled again once its workflow is woken', async () => {
    const { id, payment_code } = (await collect(freshKey())).body.data;
    await backUp(stack.owner());
    const before = await readBalance(partner);
    await payAtProvider(payment_code);
    await succeededWhenHinted(id);
    const paid = await readBalance(partner);
    await restore(stack.owner());
    expect(await readBalance(partner)).toEqual(before);

    await succeededWhenHinted(id);
    expect(await readBalance(partner)).toEqual(paid);
  }, 60_000);

  it('A paid payment that a restore removed is recreated by a retry with its key and settled', async () => {
    await backUp(stack.owner());
    const key = freshKey();
    const { id, payment_code } = (await collect(key)).body.data;
    await payAtProvider(payment_code);
    await succeededWhenHinted(id);
    await restore(stack.owner());

    const again = await collect(key);
    expect(again).toMatchObject({ status: 200, body: { data: { id, payment_code } } });
    await succeededWhenHinted(id);
  }, 60_000);
});

describe('A restore to the moment between a row and its instrument', () => {
  const requests = { collect, keep, topUp };
  const tables = { collect: 'partner_payments', keep: 'partner_instruments', topUp: 'payment_orders' };
  const codeOf = ({ body }: { body: { data?: { payment_code?: string | null } } }) => body.data?.payment_code ?? null;

  it.each(['collect', 'keep', 'topUp'] as const)(
    'A row restored without its instrument gets the same instrument again (%s)',
    async (name) => {
      const key = freshKey();
      const sql = `select count(*)::integer as count from ${tables[name]}`;
      const count = async () => (await stack.em().execute<[{ count: number }]>(sql))[0].count;
      const before = await count();
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      const first = requests[name](key);
      await eventually(count, (now) => now > before);
      await backUp(stack.owner());
      await stack.sandbox.put('/sandbox/faults', {});
      const code = codeOf(await first);
      expect(code).toEqual(expect.any(String));
      await restore(stack.owner());

      await eventually(
        async () => codeOf(await requests[name](key)),
        (again) => again === code,
        40_000,
      );
    },
    90_000,
  );
});
