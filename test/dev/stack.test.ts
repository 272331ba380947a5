import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

describe('the stack of a test file', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
  });
  afterAll(() => stack?.stop());

  test('is ready: database, Temporal and storage answer', async () => {
    const { status, body } = await stack.get('/readyz');
    expect({ status, body }).toMatchObject({ status: 200 });
  });

  test('starts with a database whose invariants hold', async () => {
    await expectChecksEmpty(stack);
  });
});
