import { Client, Connection } from '@temporalio/client';
import type { Part } from '../dev/part.ts';
import { findFreePort } from '../dev/ports.ts';
import { runChecks } from '../src/ledger/run-checks.ts';
import { must } from '../src/shared/assert.ts';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { endBench } from './bounds.ts';
import { countCachedWorkflows } from './cached-workflows.ts';
import { median } from './figures.ts';
import { startBare } from './gateway/bare.ts';
import { payAtProvider, paymentsOf, postJson, waitUntilSettled } from './gateway/payments.ts';
import { type LoadResult, runLoad } from './load.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { countCpu, readUsage } from './usage.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures `POST /v1/partners/payments` against a bare early-return workflow on the same Temporal server that makes the
 * same single HTTP call to the same provider, in alternation: p50 sequentially, throughput at fifty at once. Then
 * measures payments from the request until they are settled. Temporal's store does not wait for the disk. Prints the
 * CPU time and memory of each part, and the history of one payment. Fails on an error or a missing payment.
 */
const rounds = argument('rounds', 5);
const seconds = argument('seconds', 6);
const warmSeconds = argument('warm', 6);
const completingSeconds = argument('completing', 10);
/** The maximum time for filling the worker's cache, before anything is measured. */
const fillingSeconds = argument('filling', 60);
const crowd = 50;
const concurrencies = [1, crowd];
const bounds = {
  latency: { most: 1.4 },
  throughput: { least: 0.7 },
  cached: { most: 0.6 },
  worker: { most: 700 },
  api: { most: 280 },
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = await startBenchStack();
const metricsPort = await findFreePort();
await using whole = await startWholeStack(stack, say, { TEMPORAL_METRICS_PORT: String(metricsPort) });
const bare = await startBare(whole, stack.env.XENDIT_SECRET_KEY ?? '');
const [partner] = await seedPartners(stack, [null]);
const nextPayment = paymentsOf(must(partner, 'one partner is seeded'));
const nextBare = () => postJson('/', '{}', []);

type What = 'bare' | 'payment';
const titles: Record<What, string> = { bare: 'bare early return', payment: 'POST /v1/partners/payments' };
const both = ['bare', 'payment'] as const;
const problems: string[] = [];
let acknowledged = 0;
let lastId = '';

/** Sends requests for some seconds; any answer but 200 is a problem. `onMade` is called for each payment. */
async function load(what: What, connections: number, forSeconds: number, onMade?: (code: string) => void) {
  const result = await runLoad({
    port: what === 'bare' ? bare.port : whole.apiPort,
    connections,
    seconds: forSeconds,
    status: 200,
    next: what === 'bare' ? nextBare : nextPayment,
    onAnswer: (text) => {
      if (what === 'bare') return;
      const { id, payment_code }: { id: string; payment_code: string } = JSON.parse(text).data;
      acknowledged += 1;
      lastId = id;
      onMade?.(payment_code);
    },
  });
  for (const [line, count] of Object.entries(result.errors)) problems.push(`${what} answered ${line}, ${count} times`);
  return result;
}

const columns = ['API', 'worker', 'Temporal', 'PostgreSQL', 'sandbox'] as const;
type Costs = Partial<Record<(typeof columns)[number], number>>;
const { temporal: Temporal, sandbox } = whole;
const parts: Record<What, Partial<Record<(typeof columns)[number], Part>>> = {
  payment: { API: whole.api, worker: whole.worker, Temporal, PostgreSQL: stack.postgres, sandbox },
  bare: { API: bare.route, worker: bare.worker, Temporal, sandbox },
};

/** Runs the work and returns the CPU time of each part during it, in milliseconds for each answer. */
async function withCosts<T extends { answers: number }>(
  what: What,
  work: () => Promise<T>,
): Promise<T & { costs: Costs }> {
  const read = countCpu(parts[what] as Record<string, Part>);
  const result = await work();
  const each = Object.entries(read()).map(([name, ms]) => [name, ms / result.answers]);
  return { ...result, costs: Object.fromEntries(each) };
}

const megabytes = (part: Part): number => readUsage(part).megabytes;
/** Creates payments until the worker's cache is full; returns the megabytes for each cached workflow. */
async function fillCache(): Promise<{ cached: number; each: number }> {
  await load('payment', crowd, Math.min(1, warmSeconds));
  const first = { cached: await countCachedWorkflows(metricsPort), at: megabytes(whole.worker) };
  let cached = first.cached;
  const until = performance.now() + fillingSeconds * 1000;
  for (let isGrowing = true; isGrowing && performance.now() < until; ) {
    await load('payment', crowd, Math.min(3, fillingSeconds));
    const now = await countCachedWorkflows(metricsPort);
    isGrowing = now > cached;
    cached = Math.max(cached, now);
  }
  return { cached, each: (megabytes(whole.worker) - first.at) / (cached - first.cached) };
}

const cache = await fillCache();
for (const what of both) await load(what, crowd, warmSeconds);
const slices = new Map<string, (LoadResult & { costs: Costs })[]>();
const of = (what: What, connections: number) => slices.get(`${what}/${connections}`) ?? [];
for (let round = 0; round < rounds; round += 1) {
  for (const connections of concurrencies) {
    for (const what of round % 2 === 0 ? both : both.toReversed()) {
      const slice = await withCosts(what, () => load(what, connections, seconds));
      slices.set(`${what}/${connections}`, [...of(what, connections), slice]);
    }
  }
}

const completed = await withCosts('payment', async () => {
  const began = performance.now();
  const paying: Promise<void>[] = [];
  const { answers } = await load('payment', crowd, completingSeconds, (code) =>
    paying.push(payAtProvider(whole, code)),
  );
  await Promise.all(paying);
  await waitUntilSettled(stack, answers);
  return { answers, perSecond: answers / ((performance.now() - began) / 1000) };
});

const figures = ['perSecond', 'p50Ms', 'p99Ms'] as const;
const middle = (what: What, connections: number, figure: (typeof figures)[number]): number =>
  median(of(what, connections).map((slice) => slice[figure]));
printTable(
  ['', 'at once', 'per second', 'p50 ms', 'p99 ms'],
  [
    ...concurrencies.flatMap((connections) =>
      both.map((what) => [
        titles[what],
        String(connections),
        ...figures.map((figure) => middle(what, connections, figure).toFixed(1)),
      ]),
    ),
    ['from the request until settled', String(crowd), completed.perSecond.toFixed(1), '', ''],
  ],
);
const cells = (costs: Costs) => columns.map((name) => costs[name]?.toFixed(1) ?? '');
const costsOf = (what: What): Costs =>
  Object.fromEntries(
    columns
      .filter((name) => name in parts[what])
      .map((name) => [name, median(of(what, crowd).map(({ costs }) => costs[name] ?? Number.NaN))]),
  );
printTable(
  [`CPU ms each, ${crowd} at once`, ...columns],
  [
    ...both.map((what) => [titles[what], ...cells(costsOf(what))]),
    ['from the request until settled', ...cells(completed.costs)],
  ],
);
printTable(
  [`${cache.cached} workflows in the worker's cache`, 'MB', 'peak MB of its main process'],
  Object.entries(parts.payment).map(([name, part]) => [
    name,
    String(megabytes(part)),
    String(readUsage(part).peakMegabytes),
  ]),
);

const client = new Client({ connection: await Connection.connect({ address: whole.temporalAddress }) });
const { events = [] } = await client.workflow.getHandle(workflowIds.partnerPayment(lastId)).fetchHistory();
const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes).length;
say(`\none payment until it is settled: ${events?.length ?? 0} history events, ${tasks} workflow tasks`);
await client.connection.close();

const em = stack.deps.orm.em.fork();
const [kept] = await em.execute<[{ count: string }]>(
  "select count(*) from partner_payments where status in ('WAITING_PAYMENT', 'PAID')",
);
if (Number(kept.count) < acknowledged) problems.push(`${acknowledged} payments acknowledged, ${kept.count} stored`);
for (const { check, violations } of await runChecks(em)) if (violations > 0) problems.push(`${check}: ${violations}`);
/** The ratio to the baseline, in the slices of the same round. */
const ratio = (connections: number, figure: (typeof figures)[number]): number =>
  median(
    of('payment', connections).map((slice, round) => slice[figure] / (of('bare', connections)[round]?.[figure] ?? 0)),
  );
endBench(
  {
    problems,
    bounds: [
      { figure: 'p50 sequentially, ratio to the baseline', value: ratio(1, 'p50Ms'), ...bounds.latency },
      {
        figure: `throughput at ${crowd}, ratio to the baseline`,
        value: ratio(crowd, 'perSecond'),
        ...bounds.throughput,
      },
      { figure: 'worker MB for each workflow in its cache', value: cache.each, ...bounds.cached },
      { figure: 'peak MB of the worker', value: readUsage(whole.worker).peakMegabytes, ...bounds.worker },
      { figure: 'peak MB of the API', value: readUsage(whole.api).peakMegabytes, ...bounds.api },
    ],
  },
  say,
);
