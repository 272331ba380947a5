import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { ensureWorkflowBundle } from '../dev/bundle.ts';
import { ensureDemoData } from '../dev/demo-data.ts';
import { ensureDemoPartner } from '../dev/demo-partner.ts';
import { type Part, startPart } from '../dev/part.ts';
import { findFreePort } from '../dev/ports.ts';
import { callbackPath, startSandbox } from '../dev/sandbox-part.ts';
import { startApi, startWorker } from '../dev/service-parts.ts';
import { startTemporal } from '../dev/temporal.ts';
import { findTemporalBinary } from '../dev/temporal-binary.ts';
import { runChecks } from '../src/ledger/run-checks.ts';
import { newApiKey, newSigningSecret, newWebhookSecret } from '../src/partners/partner-secrets.ts';
import { endBench } from './bounds.ts';
import { type LoadResult, runLoad } from './load.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';

/**
 * Measures `POST /v1/partners/payments` against a bare early-return workflow on the same Temporal server that makes the
 * same one HTTP call to the same provider: p50 one after the other, throughput at fifty at once. Prints the history
 * events and workflow tasks of one payment. An error or a missing payment fails.
 */
const seconds = argument('seconds', 10);
const warmSeconds = argument('warm', 3);
const mostLatency = 1.6;
const leastThroughput = 0.6;
const concurrencies = [1, 50];

const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = await startBenchStack();
const directory = mkdtempSync(join(tmpdir(), 'amanah-bench-gateway-'));
const parts: Part[] = [];
await using _parts = {
  async [Symbol.asyncDispose]() {
    for (const part of parts.reverse()) await part.stop();
    rmSync(directory, { recursive: true, force: true });
  },
};
const place = (name: string) => ({ logFile: join(directory, `${name}.log`) });
const keep = async (starting: Promise<Part>): Promise<void> => void parts.push(await starting);

const [temporalPort, sandboxPort, apiPort, barePort] = [
  await findFreePort(),
  await findFreePort(),
  await findFreePort(),
  await findFreePort(),
];
const temporalAddress = `127.0.0.1:${temporalPort}`;
const providerUrl = `http://127.0.0.1:${sandboxPort}`;
const secretKey = stack.env.XENDIT_SECRET_KEY ?? '';
const env = {
  ...stack.env,
  // In production a provider is reached by https only, and the sandbox has none.
  NODE_ENV: 'test',
  PORT: String(apiPort),
  PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
  TEMPORAL_ADDRESS: temporalAddress,
  XENDIT_URL: providerUrl,
  RATE_LIMIT_REQUESTS_PER_10S: '1000000',
};
const binary = await findTemporalBinary(say);
await keep(
  startTemporal({ binary, port: temporalPort, databaseFile: join(directory, 'temporal.db') }, place('temporal')),
);
const callbackUrl = `http://127.0.0.1:${apiPort}${callbackPath}`;
const callbackToken = stack.env.XENDIT_CALLBACK_TOKEN ?? '';
await keep(
  startSandbox(
    { port: sandboxPort, directory: join(directory, 'sandbox'), callbackUrl, callbackToken, secretKey },
    place('sandbox'),
  ),
);
const WORKFLOW_BUNDLE = await ensureWorkflowBundle(place('bundle'));
await keep(startWorker({ ...place('worker'), env: { ...env, WORKFLOW_BUNDLE } }));
await keep(startApi({ ...place('api'), env }));
for (const role of ['worker', 'route'] as const) {
  const options = { role, port: barePort, temporalAddress, taskQueue: 'bare', providerUrl, secretKey };
  const script = join(import.meta.dirname, 'gateway', 'bare-payment.ts');
  await keep(
    startPart({
      ...place(`bare-${role}`),
      name: `The bare ${role}`,
      script,
      env: process.env,
      options,
      readyWithinMs: 90_000,
    }),
  );
}

const { orm, sealer } = stack.deps;
const passwords = {
  platform_super_admin: randomUUID(),
  platform_admin: randomUUID(),
  organization_admin: randomUUID(),
  individual: randomUUID(),
  second_individual: randomUUID(),
};
const people = await ensureDemoData(stack.owner(), passwords);
const secrets = { apiKey: newApiKey(), signingSecret: newSigningSecret(), webhookSecret: newWebhookSecret() };
await ensureDemoPartner(stack.owner(), sealer, {
  secrets,
  organizationId: people.organization_admin.organization_id ?? '',
  administrator: people.platform_super_admin.user_id,
  webhookUrl: null,
});

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
const signature = createHmac('sha256', secrets.signingSecret).update(body).digest('hex');
const nextPayment = () =>
  post('/v1/partners/payments', body, [
    `Authorization: Bearer ${secrets.apiKey}`,
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

const em = orm.em.fork();
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
