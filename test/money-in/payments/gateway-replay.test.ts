import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  payer = await buildIndividual(stack);
}, 60_000);
afterAll(() => stack.stop());

describe('A gateway payment retried with the same Idempotency-Key', () => {
  it.each([
    ['a name and a description', { transaction_name: 'Untuk Ibu', transaction_desc: 'tabungan "haji"' }],
    ['neither name nor description', {}],
  ])('A retry of a gateway payment with %s returns the first response, fields in the same order', async (_, texts) => {
    const body = {
      reference_type: 'account_top_up',
      reference_id: payer.accountId,
      payment_id: 1,
      amount: 50_000,
      ...texts,
    };
    const options = { token: payer.token, headers: { 'idempotency-key': `replay-${JSON.stringify(texts).length}` } };
    const first = await stack.post('/v1/payments/gateway', body, options);
    const again = await stack.post('/v1/payments/gateway', body, options);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
    expect(first.body.data).toMatchObject(texts);
  });
});
