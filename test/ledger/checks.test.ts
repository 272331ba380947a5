import { systemAccounts } from '../../src/ledger/account.ts';
import { openAccount } from '../../src/ledger/open-account.ts';
import { runChecks } from '../../src/ledger/run-checks.ts';
import { plantJournal } from '../support/plant-journal.ts';
import { corruptions } from '../support/planted-corruptions.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

describe('The checks', () => {
  beforeAll(async () => {
    await stack.owner().transactional(async (tx) => {
      const to = await openAccount(tx, { kind: 'user', name: 'Pocket' });
      await plantJournal(tx, {
        kind: 'test',
        businessKey: 'test/checks',
        postings: [
          { accountId: systemAccounts.gatewayClearing, amount: '-1' },
          { accountId: to, amount: '1' },
        ],
      });
    });
  });

  it('are all empty on a healthy database', () => expectChecksEmpty(stack));

  it('each have a corruption planted below, so that none goes unproved', async () => {
    const checks = await runChecks(stack.em());
    expect(checks.map(({ check }) => check).filter((check) => !corruptions.some(([view]) => view === check))).toEqual(
      [],
    );
  });

  it.each(corruptions)('%s catches a planted corruption', async (view, sql) => {
    const em = stack.owner();
    await em.begin();
    try {
      await em.execute("set local session_replication_role = 'replica'");
      await em.execute(sql);
      const seen = (await runChecks(em)).filter(({ violations }) => violations > 0).map(({ check }) => check);
      expect(seen).toContain(view);
    } finally {
      await em.rollback();
    }
    await expectChecksEmpty(stack);
  });
});
