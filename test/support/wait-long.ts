import { budgets } from '../../src/shared/budgets.ts';

/** In this file payments from a balance wait for locks as long as a test holds them. Call it once, outside hooks. */
export function waitLongForLocks(): void {
  const { briefMs } = budgets.balancePayment;
  beforeAll(() => {
    budgets.balancePayment.briefMs = 30_000;
  });
  afterAll(() => {
    budgets.balancePayment.briefMs = briefMs;
  });
}
