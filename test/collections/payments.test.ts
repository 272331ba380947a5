import { balanceOf } from '../support/build.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPartner(stack, {
    fees: [{ method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500' }],
  });
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const va = { method: 'virtual_account', channel: 'BCA', amount: '50000' };
const pay = (code: string, amount?: number) => stack.sandbox.post('/sandbox/pay', { payment_code: code, amount });
const when = (id: string, status: string) =>
  eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data,
    (data) => data.status === status,
  );

describe('A payment', () => {
  it('answers 200 with what the customer pays by, every field as documented', async () => {
    const { status, body, headers } = await partner.post('/payments', { ...va, external_ref: 'INV-1' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          reference: 'INV-1',
          status: 'pending',
          is_final: false,
          method: 'virtual_account',
          channel: 'BCA',
          amount: '50000.0000',
          fee: '4000.0000',
          net_amount: '46000.0000',
          currency: 'IDR',
          payment_code: expect.stringMatching(/^\d+$/),
          status_url: `/v1/partners/payments/${body.data?.id}`,
          expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          created_at: expect.any(String),
          finalized_at: null,
        },
        request_id: headers.get('x-request-id'),
      },
    });
    const lifetime = Date.parse(body.data.expires_at) - Date.parse(body.data.created_at);
    expect(lifetime).toBe(24 * 60 * 60 * 1000);
  });

  it('that is paid succeeds: the net is owed and, without a delay, available', async () => {
    const { body } = await partner.post('/payments', va);
    await pay(body.data.payment_code);
    const paid = await when(body.data.id, 'succeeded');
    expect(paid).toMatchObject({ is_final: true, finalized_at: expect.any(String), net_amount: '46000.0000' });
    const balance = (await partner.get('/balance')).body.data;
    expect(balance).toEqual({ balance: '46000.0000', available: '46000.0000', pending: '0.0000', currency: 'IDR' });
    expect(await balanceOf(stack, partner.account.available)).toBe('46000.0000');
  });
});
