import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

describe('The stack of a test file', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
  });
  afterAll(() => stack?.stop());

  test('A test stack becomes ready: database, Temporal and storage respond', async () => {
    const isReady = () => stack.get('/readyz');
    const { body } = await eventually(isReady, ({ status }) => status === 200);
    expect(body.checks).toEqual({ database: 'ok', temporal: 'ok', storage: 'ok' });
  });

  test('A test stack starts with a database whose invariants hold', async () => {
    await expectChecksEmpty(stack);
  });
});
