import { findMissingPayments } from '../../../src/control/reconciliation/compare-payments.ts';
import { bookDay } from '../../../src/ledger/seals/day-seal.ts';
import { type Stack, startStack } from '../../support/stack.ts';

const day = '2026-03-02';
const payments = 20_000;
/** More consecutive payments than one page of the provider holds, and the last payment of all. */
const unlisted = [...Array.from({ length: 120 }, (_, index) => `py-${5_001 + index}`), `py-${payments}`];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
  await stack.owner().transactional(async (tx) => {
    await tx.execute('set local statement_timeout = 0; set local transaction_timeout = 0');
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(
      `insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, order_id, received_at)
       select gen_random_uuid(), 'py-' || n, 'pm-' || n, 'order', 1000, 'applied', gen_random_uuid(),
         timestamptz '2026-03-01T17:00:00Z' + n * interval '1 second' from generate_series(1, ${payments}) n`,
    );
  });
  // The planner has statistics of receipts, but not of rows listed a moment ago.
  await stack.owner().execute('analyze receipts');
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(
      `insert into reconciled_records (provider, day, kind, key) select 'xendit', ?, 'payment', 'py-' || n from generate_series(1, ${payments}) n
         where 'py-' || n <> all(?::text[])`,
      [day, `{${unlisted.join(',')}}`],
    );
  });
});
afterAll(() => stack.stop());

it('Among 20,000 payments of a day, exactly those that the provider does not list are found', async () => {
  const { from, to } = bookDay(day);
  const gateway = { ...stack.deps.gateways.of('xendit'), findPayment: async () => null };
  const found: string[] = [];
  let after: string | null = null;
  do {
    const page = await findMissingPayments(stack.em(), gateway, { provider: 'xendit', day, from, to, after });
    found.push(...page.differences.map(({ subject }) => subject));
    after = page.next;
  } while (after !== null);
  expect(found).toEqual(unlisted);
});
