import { give } from '../giving/donations/build-donations.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../money-out/payouts/build-payouts.ts';
import { buildIndividual } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { statusLaws } from '../support/status-laws.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

async function paidOrder(): Promise<string> {
  const { token, accountId } = await buildIndividual(stack);
  const body = { reference_type: 'account_top_up', reference_id: accountId, payment_id: 1, amount: 50_000 };
  const { payment_code, payment_order_id: id } = (await stack.post('/v1/payments/gateway', body, { token })).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(
    async () => (await stack.get(`/v1/payments/orders/${id}`, { token })).body.data,
    ({ status }) => status === 'PAID',
  );
  return id;
}

async function endedPayout(lastDigits: string, status: string): Promise<string> {
  const partner = await buildPayer(stack);
  const { id } = await pay(partner, { bank_account_number: magicAccount(lastDigits) });
  await payoutWhen(partner, id, status);
  return id;
}

async function paidPartnerPayment(): Promise<string> {
  const partner = await buildPayer(stack);
  const body = { method: 'virtual_account', channel: 'BNI', amount: '50000', customer_name: 'Budi' };
  const { id, payment_code } = (await partner.post('/payments', body)).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code });
  await eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data,
    ({ is_final }) => is_final,
  );
  return id;
}

const idOf = async (sql: string, values: unknown[]): Promise<string> =>
  (await stack.em().execute<{ id: string }[]>(sql, values))[0]?.id ?? '';

async function completedDonation(): Promise<string> {
  const donor = await buildIndividual(stack, { balance: '1000' });
  const cause = await buildActiveCause(stack);
  await give(stack, donor, 1000, cause.id);
  return idOf('select id from donations where user_id = ?', [donor.id]);
}

const rows: [what: string, place: string, status: string, build: () => Promise<string>][] = [
  ['A paid order', 'payment_orders.status', 'PAID', paidOrder],
  [
    'The receipt of a paid order',
    'receipts.state',
    'applied',
    async () => idOf('select id from receipts where order_id = ?', [await paidOrder()]),
  ],
  ['A paid payment of a partner', 'partner_payments.status', 'PAID', paidPartnerPayment],
  ['A failed payout', 'payouts.status', 'failed', () => endedPayout('999999', 'failed')],
  ['A reversed payout', 'payouts.status', 'reversed', () => endedPayout('654321', 'reversed')],
  ['A completed donation', 'donations.status', 'completed', completedDonation],
];

it.each(rows)(
  '%s cannot be deleted or get a forbidden status, even by the owner role',
  async (_, place, status, build) => {
    const id = await build();
    const [table = '', column = ''] = place.split('.');
    const law = statusLaws[place];
    const forbidden = law?.statuses.filter((to) => to !== status && !law.transitions[status]?.includes(to)) ?? [];
    expect(forbidden.length).toBeGreaterThan(0);
    for (const to of forbidden) {
      await expect(
        stack.owner().execute(`update ${table} set ${column} = ? where id = ?`, [to, id]),
      ).rejects.toMatchObject({
        code: 'AM008',
        message: expect.stringContaining(`${table} ${id}: ${column} does not go from ${status} to ${to}`),
      });
    }
    await expect(stack.owner().execute(`delete from ${table} where id = ?`, [id])).rejects.toMatchObject({
      code: 'AM003',
    });
    expect(await idOf(`select id from ${table} where id = ? and ${column} = ?`, [id, status])).toBe(id);
  },
);
