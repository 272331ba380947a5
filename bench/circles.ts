import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../dev/ports.ts';
import { westernIndonesiaDay } from '../src/shared/clock.ts';
import { endBench } from './bounds.ts';
import { countCachedWorkflows } from './cached-workflows.ts';
import { quantile } from './figures.ts';
import { findViolations } from './prove-checks.ts';
import { seedPayers } from './seed-payers.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { readUsage } from './usage.ts';
import { startWholeStack } from './whole-stack.ts';

/**
 * Measures saving circles on one worker with its default cache: first few, then many. In each setting a group of
 * circles contributes from balances over HTTP (latency of a contribution), one circle after another gets its last
 * contribution (time until the pot is paid), and the worker's memory is read. The growth in memory divided by the
 * growth in cached workflows is the memory of one workflow. Fails on an error or a wrong sum.
 */
const few = argument('few', 10);
const many = argument('many', 1000);
const measured = argument('measured', 10);
const membersOfMeasured = argument('members', 20);
const connections = argument('connections', 8);
const membersOfOthers = 3;
const buildingAtOnce = 12;
const contribution = '1000';

interface Figures {
  circles: number;
  contributions: number;
  p50: number;
  p99: number;
  potP50: number;
  potP99: number;
  workerMb: number;
  /** Workflows in the worker's cache. */
  cached: number;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);
/** Runs the work for each index, `atOnce` at a time. */
async function forEach(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

await using stack = await startBenchStack();
const metricsPort = await findFreePort();
await using whole = await startWholeStack(stack, say, { TEMPORAL_METRICS_PORT: String(metricsPort) });
const payers = await seedPayers(stack, membersOfMeasured);
const em = () => stack.deps.orm.em.fork();

const call = async (method: string, path: string, token: string, body: object) => {
  const response = await fetch(`http://127.0.0.1:${whole.apiPort}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
};
const tokenOf = (index: number) => payers.tokens[index] as string;

/** Creates a circle of the first `members` payers over HTTP; it starts when the last has joined. */
async function startCircle(members: number): Promise<string> {
  const today = westernIndonesiaDay(new Date());
  const circle = { account_id: payers.accountIds[0], name: 'Bench', start_date: today, amount: contribution };
  const { id } = await call('POST', '/v1/saving-circles', tokenOf(0), circle);
  const account_ids = payers.accountIds.slice(0, members);
  await call('POST', '/v1/saving-circles/members', tokenOf(0), { saving_circle_id: id, account_ids });
  return id;
}
async function startCircles(count: number, members: number): Promise<string[]> {
  const ids: string[] = [];
  await forEach(count, buildingAtOnce, async () => void ids.push(await startCircle(members)));
  return ids;
}
async function until(question: string, params: unknown[]): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const [row] = await em().execute<{ yes: boolean }[]>(question, params);
    if (row?.yes) return;
    if (Date.now() > deadline) throw new Error(`not true within two minutes: ${question}`);
    await sleep(5);
  }
}
const contribute = (id: string, member: number) =>
  call('POST', '/v1/saving-circles/contribute', tokenOf(member), {
    saving_circle_id: id,
    contribution_amount: contribution,
  });

async function measure(circles: number): Promise<Figures> {
  const ids = await startCircles(measured, membersOfMeasured);
  await until("select not exists (select from saving_circles where status = 'new') as yes", []);
  const latencies: number[] = [];
  const all = ids.flatMap((id) => Array.from({ length: membersOfMeasured - 1 }, (_, member) => ({ id, member })));
  await forEach(all.length, connections, async (index) => {
    const { id, member } = all[index] as (typeof all)[number];
    const sent = performance.now();
    await contribute(id, member);
    latencies.push(performance.now() - sent);
  });
  const pots: number[] = [];
  for (const id of ids) {
    const sent = performance.now();
    await contribute(id, membersOfMeasured - 1);
    await until('select current_turn = 2 as yes from saving_circles where id = ?', [id]);
    pots.push(performance.now() - sent);
  }
  return {
    circles,
    contributions: latencies.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    potP50: quantile(pots, 0.5),
    potP99: quantile(pots, 0.99),
    workerMb: readUsage(whole.worker).megabytes,
    cached: await countCachedWorkflows(metricsPort),
  };
}

await startCircles(measured, membersOfOthers); // warms up API, worker and query plans
await startCircles(Math.max(0, few - 2 * measured), membersOfOthers);
await measure(few); // discarded
const before = await measure(few);
const [{ live }] = (await em().execute<{ live: number }[]>(
  "select count(*)::int as live from saving_circles where status = 'active'",
)) as [{ live: number }];
const began = performance.now();
const added = Math.max(0, many - live - measured);
await startCircles(added, membersOfOthers);
await until("select not exists (select from saving_circles where status = 'new') as yes", []);
say(`${added} circles created, joined and started in ${Math.round((performance.now() - began) / 1000)} s.`);
const after = await measure(many);

printTable(
  ['circles live', 'contributions', 'p50 ms', 'p99 ms', 'pot paid p50 ms', 'p99 ms', 'worker MB', 'workflows cached'],
  [before, after].map(({ circles, contributions, p50, p99, potP50, potP99, workerMb, cached }) => [
    String(circles),
    String(contributions),
    ...[p50, p99, potP50, potP99].map((ms) => ms.toFixed(1)),
    String(workerMb),
    String(cached),
  ]),
);

const problems: string[] = [];
// After all contributions and pots, the payers' and holding accounts together hold as much as at the start.
const [row] = await em().execute<{ whole: string }[]>(
  `select sum(b.balance)::numeric(20, 0)::text as whole from account_balances b join accounts a on a.id = b.account_id
   where a.kind in ('user', 'circle_holding')`,
);
const expected = payers.opening * payers.userIds.length;
if (Number(row?.whole) !== expected) problems.push(`all accounts have ${row?.whole}, expected ${expected}`);
problems.push(...(await findViolations(em())));
if (problems.length === 0) say('Sums are right: no money appeared or disappeared; every check_* view is empty.');
endBench(
  {
    problems,
    bounds: [
      { figure: 'p50 of a contribution, ratio of many to few', value: after.p50 / before.p50, most: 1.5 },
      { figure: 'p50 until the pot is paid, ratio of many to few', value: after.potP50 / before.potP50, most: 1.5 },
      {
        figure: 'worker MB for each further workflow in its cache',
        value: (after.workerMb - before.workerMb) / (after.cached - before.cached),
        most: 0.6,
      },
      { figure: 'peak MB of the worker', value: readUsage(whole.worker).peakMegabytes, most: 700 },
    ],
  },
  say,
);
