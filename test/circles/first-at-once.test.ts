import { isFullRun } from '../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { begun } from './begin-circle.ts';
import { contribute } from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test's requests have effects. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

describe('First contributions with a guarantee', () => {
  it('Concurrent first contributions for one member create one, and the others are refused', async () => {
    const size = isFullRun() ? 8 : 4;
    // The full run tries twice, because it is random which request commits first.
    for (let tries = 0; tries < (isFullRun() ? 2 : 1); tries += 1) {
      const { id, members, memberIds } = await begun(
        stack,
        size,
        { guarantee_percent: 50 },
        Array(size).fill('9000000'),
      );
      for (const on_behalf_of of memberIds) {
        const answers = await Promise.all(members.map((payer) => contribute(stack, payer, id, { on_behalf_of })));
        const statuses = answers.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual([201, ...Array(size - 1).fill(400)]);
        for (const { status, body } of answers) {
          if (status === 400) expect(body.message).toMatch(/the member already has a .*completed contribution/);
        }
      }
    }
  }, 120_000);
});
