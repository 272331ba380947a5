import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackWorkflows } from '../src/money-in/callbacks/callback-workflows.ts';
import { sweepOverduePayments } from '../src/money-in/callbacks/sweep-overdue-payments.ts';
import { withTime } from '../src/platform/database/database-time-outs.ts';
import { budgets } from '../src/shared/budgets.ts';
import { endBench } from './bounds.ts';
import { argument, startBenchStack, vacuum } from './stack.ts';
import { printTable } from './table.ts';

/**
 * Measures how fast a sweep finds and claims orders that have all lost their workflows. Temporal is replaced by a
 * stand-in that accepts each start at once, or so many a second (`--starts`). Fails if an order is not woken, or is
 * woken twice within a minute.
 */
const rows = argument('rows', 100_000);
const startsPerSecond = argument('starts', 0);
/** Rows that a sweep wakes per batch (`sweep-rows.ts`). */
const atOnce = 50;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const problems: string[] = [];
const woken = new Map<string, number>();

async function wake(id: string): Promise<void> {
  woken.set(id, (woken.get(id) ?? 0) + 1);
  if (startsPerSecond > 0) await sleep((atOnce / startsPerSecond) * 1000);
}

await using stack = await startBenchStack();
await withTime(stack.owner(), budgets.database.command, async (tx) => {
  // Without triggers and foreign keys, because only finding the rows is measured.
  await tx.execute("set local session_replication_role = 'replica'");
  await tx.execute(
    `insert into payment_orders (id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal, admin_fee,
       status, provider_payment_method_id, expires_at, created_at, updated_at)
     select uuidv7(), uuidv7(), 'account_top_up', uuidv7(), uuidv7(), 1, 100000, 1000, 'WAITING_PAYMENT', 'pm-' || n,
       now() - interval '1 hour', now() - interval '25 hours', now() - interval '25 hours'
     from generate_series(1, ?) n`,
    [rows],
  );
});
await vacuum(stack.databaseUrl);

const workflows: CallbackWorkflows = {
  ...stack.deps.workflows,
  hintGatewayPayment: wake,
};
const failed = (kind: string, id: string) => void problems.push(`${kind} ${id} was not woken`);
const runs: { rows: number; seconds: number }[] = [];
while (woken.size < rows) {
  const startedAt = performance.now();
  const count = await sweepOverduePayments(stack.deps.orm.em.fork(), workflows, failed);
  runs.push({ rows: count, seconds: (performance.now() - startedAt) / 1000 });
  if (count === 0) break;
}
const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
const most = Math.max(...woken.values());
// A sweep may wake an open order again after a minute.
if (woken.size !== rows || (most > 1 && seconds < 60))
  problems.push(`${woken.size} of ${rows} were woken, one ${most} times`);

printTable(
  ['orders', 'starts a second', 'runs', 'seconds of sweeping', 'rows of a run'],
  [
    [
      String(rows),
      startsPerSecond === 0 ? 'at once' : String(startsPerSecond),
      String(runs.length),
      seconds.toFixed(1),
      runs.map((run) => run.rows).join(', '),
    ],
  ],
);
say('\nA schedule starts one run a minute, so the number of runs is about the number of minutes.');
endBench({ problems, bounds: [] }, say);
