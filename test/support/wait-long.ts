import { budgets } from '../../src/shared/budgets.ts';

/** Makes balance payments in this file wait for a lock as long as a test holds it. Call once, outside hooks. */
export function waitLongForLocks(): void {
  const { briefMs } = budgets.balancePayment;
  beforeAll(() => {
    budgets.balancePayment.briefMs = 30_000;
  });
  afterAll(() => {
    budgets.balancePayment.briefMs = briefMs;
  });
}
