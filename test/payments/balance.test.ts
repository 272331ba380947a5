import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { buildProduct } from '../support/build-targets.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  admin = await buildPlatformAdmin(stack);
});
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack, { balance: '1000000' });
});
afterEach(() => expectChecksEmpty(stack));

const pay = (body: object, headers: Record<string, string> = {}, token = payer.token) =>
  stack.post(
    '/v1/payments/balance',
    { source_account_id: payer.accountId, amount: 10_000, ...body },
    { token, headers },
  );

describe('A payment from a balance', () => {
  it('answers with the transaction, the amount and the balance after it', async () => {
    const product = await buildProduct(stack, admin, { kind: 'investment' });
    const { status, body } = await pay({ reference_type: 'investment', reference_id: product.id });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        status: 'success',
        statusCode: 201,
        message: expect.any(String),
        data: {
          transaction_id: expect.any(String),
          amount: '10000.0000',
          new_balance: '990000.0000',
          reference_type: 'investment',
          reference_id: product.id,
        },
      },
    });
    expect(await balanceOf(stack, payer.accountId)).toBe('990000.0000');
    expect(await balanceOf(stack, product.accountId)).toBe('10000.0000');
  });
});
