import { once } from 'node:events';
import { createServer } from 'node:http';
import { createPartnerClient } from '../sdk/index.ts';
import { must } from '../src/shared/assert.ts';
import { startBareFlows } from './bare-flows/start.ts';
import { endBench } from './bounds.ts';
import { compareFlows, type Flow } from './compare-flows.ts';
import { findViolations } from './prove-checks.ts';
import { argument, startBenchStack } from './stack.ts';
import { createWatch } from './watch.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures partners' collections end to end, sequentially and fifty at once: a virtual account or a QRIS code is
 * created, paid in the sandbox, reported by its callback, settled, and reported to the partner by webhook. The baseline
 * is a workflow with the same calls to provider and partner and one row. Prints the CPU time of each part for one
 * payment. Fails if a payment is not settled or a webhook does not arrive, and on a wrong sum or an error.
 */
const rounds = argument('rounds', 3);
const crowd = argument('crowd', 50);
const settings = [
  { atOnce: 1, count: argument('alone', 20) },
  { atOnce: crowd, count: argument('together', 150) },
];
const amount = '50000';
const toldWithinMs = 120_000;

/** `created` is the request; `settled` and `told` are measured from the payment at the provider. */
type Mark = 'created' | 'settled' | 'told';
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Promises of each payment's webhook, by payment id; a webhook may arrive before anything waits for it. */
const told = new Map<string, PromiseWithResolvers<void>>();
function webhookOf(id: string): PromiseWithResolvers<void> {
  const known = told.get(id) ?? Promise.withResolvers<void>();
  told.set(id, known);
  return known;
}
const endpoint = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { data, type }: { data: { id: string }; type?: string } = JSON.parse(Buffer.concat(chunks).toString());
  response.writeHead(200).end();
  if (type === undefined || type === 'payment.succeeded') webhookOf(data.id).resolve();
}).listen(0, '127.0.0.1');
await once(endpoint, 'listening');
await using _endpoint = {
  async [Symbol.asyncDispose]() {
    endpoint.closeAllConnections();
    endpoint.close();
  },
};
const address = endpoint.address();
const webhookUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;

await using stack = await startBenchStack();
await using whole = await startWholeStack(stack, say, { WEBHOOK_ALLOW_LOOPBACK: 'true' });
const bare = await startBareFlows(stack, whole, webhookUrl);
const [partner] = await seedPartners(stack, [webhookUrl]);
const { apiKey, signingSecret } = must(partner, 'one partner is seeded');
const client = createPartnerClient({
  baseUrl: `http://127.0.0.1:${whole.apiPort}`,
  apiKey,
  signingSecret,
});
const em = () => stack.deps.orm.em.fork();
const settled = createWatch(em, "select id from partner_payments where id = any(?::uuid[]) and status = 'PAID'");
const bareSettled = createWatch(() => stack.owner(), bare.settledSql);

async function post<T>(url: string, body: object): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

/** Creates a payment, pays it, and waits until it is settled and its webhook has arrived. */
async function collect(
  create: () => Promise<{ id: string; payment_code: string }>,
  providerUrl: string,
  wait: (id: string) => Promise<void>,
): Promise<Record<Mark, number>> {
  const sent = performance.now();
  const { id, payment_code } = await create();
  const paidAt = performance.now();
  await post(`${providerUrl}/sandbox/pay`, { payment_code });
  const since = () => performance.now() - paidAt;
  const late = setTimeout(() => webhookOf(id).reject(new Error(`no webhook of ${id} arrived`)), toldWithinMs);
  const [settledMs, toldMs] = await Promise.all([wait(id).then(since), webhookOf(id).promise.then(since)]);
  clearTimeout(late);
  told.delete(id);
  return { created: paidAt - sent, settled: settledMs, told: toldMs };
}

let made = 0;
const methods = [{ method: 'virtual_account', channel: 'BNI' }, { method: 'qris' }] as const;
const { temporal: Temporal, sandbox, worker, api: API } = whole;
const flows: [Flow<Mark>, Flow<Mark>] = [
  {
    name: 'a bare workflow',
    run: () => collect(() => post(`${bare.url}/collections`, {}), bare.providerUrl, bareSettled),
    parts: { worker: bare.part, Temporal, PostgreSQL: stack.postgres, sandbox: bare.sandbox },
  },
  {
    name: 'collections',
    run: () =>
      collect(
        async () => {
          made += 1;
          const asked = { amount, ...must(methods[made % methods.length], 'there are two methods') };
          const { id, payment_code } = await client.payments.create(asked);
          return { id, payment_code: must(payment_code, 'the response has the payment code') };
        },
        whole.providerUrl,
        settled,
      ),
    parts: { API, worker, Temporal, PostgreSQL: stack.postgres, sandbox },
  },
];
const { ratio } = await compareFlows(flows, ['created', 'settled', 'told'], { rounds, settings });

const problems: string[] = [];
const [sums] = await em().execute<{ paid: number; delivered: number; net: string; held: string }[]>(
  `select (select count(*)::int from partner_payments where status = 'PAID') as paid,
     (select count(distinct resource_id)::int from webhook_deliveries where type = 'payment.succeeded') as delivered,
     (select sum(net_amount) from partner_payments where status = 'PAID')::text as net,
     (select account_balance(available_account_id) + account_balance(pending_account_id) from partners)::text as held`,
);
if (sums?.paid !== made) problems.push(`${made} payments were created and paid, ${sums?.paid} are settled`);
if (sums?.delivered !== made) problems.push(`${made} payments were reported, with ${sums?.delivered} webhooks`);
if (Number(sums?.net) !== Number(sums?.held)) problems.push(`the partner has ${sums?.held}, expected ${sums?.net}`);
problems.push(...(await findViolations(em())));
if (problems.length === 0)
  say(`Sums are right: ${made} payments, each settled and reported; every check_* view is empty.`);
const { name } = flows[1];
endBench(
  {
    problems,
    bounds: [
      { figure: 'told p50 sequentially, ratio to the baseline', value: ratio(name, 1, 'told'), most: 5 },
      { figure: `rate at ${crowd}, ratio to the baseline`, value: ratio(name, crowd, 'perSecond'), least: 0.25 },
      { figure: `CPU at ${crowd}, ratio to the baseline`, value: ratio(name, crowd, 'cpu'), most: 5 },
    ],
  },
  say,
);
