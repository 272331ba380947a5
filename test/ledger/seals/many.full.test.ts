import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { sealAll } from './build-seals.ts';

const journals = isFullRun() ? 100_000 : 2_000;
/** Enough for one seal and everything else, but not for every journal. */
const heapMegabytes = 96;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
  // Inserted directly in one statement, because the ledger accepts one journal at a time.
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'; set local statement_timeout = 0");
    await tx.execute('set local transaction_timeout = 0');
    await tx.execute(
      `with key as (insert into journal_keys (journal_id, business_key)
         select uuidv7(), 'test/many/' || n || repeat('x', 1000) from generate_series(1, ?) n returning *)
       insert into journals (id, business_key, kind) select journal_id, business_key, 'test.many' from key`,
      [journals],
    );
    await tx.execute(
      `insert into postings (journal_id, account_id, amount)
         select journals.id, account.id, account.sign * 10 from journals, (values (?::uuid, -1), (?::uuid, 1)) account (id, sign)`,
      [systemAccounts.gatewayClearing, systemAccounts.providerCost],
    );
    await tx.execute(
      `insert into account_balances select account_id, 1, sum(amount) from postings group by account_id
         on conflict (account_id, shard) do update set balance = excluded.balance`,
    );
  });
}, 300_000);
afterAll(() => stack.stop());

it(`${journals} journals are sealed in parts, and verified with memory for one part`, async () => {
  const steps = await sealAll(stack);
  expect(steps.map((step) => step.journals).reduce((sum, count) => sum + count, 0)).toBe(journals);
  expect(steps).toHaveLength(Math.floor(journals / 10_000) + 1);
  const script = join(import.meta.dirname, '../../../src/wiring/commands/verify.ts');
  const stdout = await new Promise<string>((resolve, reject) => {
    const args = [`--max-old-space-size=${heapMegabytes}`, script];
    execFile(process.execPath, args, { env: stack.env }, (error, out) => (error ? reject(error) : resolve(out)));
  });
  expect(stdout).toContain(`${steps.length} seals over ${journals} journals; 0 wait for the next one.`);
}, 600_000);
