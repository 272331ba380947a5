import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startPart } from '../dev/part.ts';
import { findFreePort } from '../dev/ports.ts';
import { runChecks } from '../src/ledger/run-checks.ts';
import { must } from '../src/shared/assert.ts';
import { endBench } from './bounds.ts';
import { type LoadResult, runLoad } from './load.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures `POST /v1/partners/payments` against a bare early-return workflow on the same Temporal server that makes the
 * same single HTTP call to the same provider: p50 sequentially, throughput at fifty at once. Prints the history events
 * and workflow tasks of one payment. An error or a missing payment fails.
 */
const seconds = argument('seconds', 10);
const warmSeconds = argument('warm', 3);
const mostLatency = 1.6;
const leastThroughput = 0.6;
const concurrencies = [1, 50];

const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = await startBenchStack();
await using whole = await startWholeStack(stack, say);
const { apiPort, temporalAddress, providerUrl } = whole;
const barePort = await findFreePort();
const secretKey = stack.env.XENDIT_SECRET_KEY ?? '';
for (const role of ['worker', 'route'] as const) {
  const options = { role, port: barePort, temporalAddress, taskQueue: 'bare', providerUrl, secretKey };
  const script = join(import.meta.dirname, 'gateway', 'bare-payment.ts');
  await whole.keep(
    startPart({
      ...whole.place(`bare-${role}`),
      name: `The bare ${role}`,
      script,
      env: process.env,
      options,
      readyWithinMs: 90_000,
    }),
  );
}

const [partner] = await seedPartners(stack, [null]);
const { apiKey, signingSecret } = must(partner, 'one partner was asked for');

const post = (path: string, body: string, headers: string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: bench',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
const body = JSON.stringify({ method: 'virtual_account', channel: 'BNI', amount: '50000' });
const signature = createHmac('sha256', signingSecret).update(body).digest('hex');
const nextPayment = () =>
  post('/v1/partners/payments', body, [
    `Authorization: Bearer ${apiKey}`,
    `x-partner-signature: ${signature}`,
    `x-idempotency-key: ${randomUUID()}`,
  ]);
const nextBare = () => post('/', '{}', []);

const problems: string[] = [];
let acknowledged = 0;
let lastId = '';
async function measure(what: 'bare' | 'payment', connections: number): Promise<LoadResult> {
  const load = {
    port: what === 'bare' ? barePort : apiPort,
    connections,
    status: 200,
    next: what === 'bare' ? nextBare : nextPayment,
    onAnswer: (text: string) => {
      if (what === 'bare') return;
      acknowledged += 1;
      lastId = /"id":"([^"]+)"/.exec(text)?.[1] ?? lastId;
    },
  };
  const warm = await runLoad({ ...load, seconds: warmSeconds });
  const result = await runLoad({ ...load, seconds });
  for (const failed of [warm.errors, result.errors]) {
    for (const [line, count] of Object.entries(failed)) problems.push(`${what} answered ${line}, ${count} times`);
  }
  return result;
}

const rows: string[][] = [];
const figures = new Map<string, LoadResult>();
for (const connections of concurrencies) {
  for (const what of ['bare', 'payment'] as const) {
    const result = await measure(what, connections);
    figures.set(`${what}/${connections}`, result);
    const name = what === 'bare' ? 'bare early return' : 'POST /v1/partners/payments';
    rows.push([
      name,
      String(connections),
      result.perSecond.toFixed(1),
      result.p50Ms.toFixed(1),
      result.p99Ms.toFixed(1),
    ]);
  }
}
printTable(['', 'at once', 'per second', 'p50 ms', 'p99 ms'], rows);
const of = (name: string): LoadResult => figures.get(name) as LoadResult;
const latency = of('payment/1').p50Ms / of('bare/1').p50Ms;
const throughput = of('payment/50').perSecond / of('bare/50').perSecond;

const client = new Client({ connection: await Connection.connect({ address: temporalAddress }) });
const { events = [] } = await client.workflow.getHandle(`partner-payment/${lastId}`).fetchHistory();
const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes).length;
say(`one payment until its answer: ${events?.length ?? 0} history events, ${tasks} workflow tasks`);
await client.connection.close();

const em = stack.deps.orm.em.fork();
const [kept] = await em.execute<[{ count: string }]>(
  "select count(*) from partner_payments where status = 'WAITING_PAYMENT'",
);
if (Number(kept.count) < acknowledged) problems.push(`${acknowledged} payments acknowledged, ${kept.count} kept`);
for (const { check, violations } of await runChecks(em)) if (violations > 0) problems.push(`${check}: ${violations}`);
const bounds = [
  { figure: 'p50 one after the other, of the bare one', value: latency, most: mostLatency },
  { figure: 'throughput at 50, of the bare one', value: throughput, least: leastThroughput },
];
endBench({ problems, bounds }, say);
