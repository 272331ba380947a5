import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { recordWebhook } from '../src/partners/webhooks/record-webhook.ts';
import { must } from '../src/shared/assert.ts';
import { newId } from '../src/shared/ids.ts';
import { workflowIds } from '../src/shared/workflow-ids.ts';
import { endBench } from './bounds.ts';
import { quantile } from './figures.ts';
import { findViolations } from './prove-checks.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures the time from payment at the provider to settlement, sequentially: undisturbed, and while another partner's
 * endpoint leaves every webhook unanswered. The two alternate. Fails on an error or a wrong sum.
 */
const rounds = argument('rounds', 3);
const perSlice = argument('payments', 200);
/** Longer than the time-out of a webhook request. */
const settleMs = 1000 * argument('settle', 20);
/** Webhooks waiting for the endpoint when a slice begins: more than a worker sends at once. */
const backlog = argument('backlog', 200);
/** Further webhooks per second. */
const perSecond = argument('per-second', 5);
const mostLatency = 1.2;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const isHanging = { now: false };
const held = new Set<ServerResponse>();
const endpoint = createServer((request, response) => {
  request.resume();
  if (!isHanging.now) return void response.writeHead(200).end();
  held.add(response);
  response.once('close', () => held.delete(response));
}).listen(0, '127.0.0.1');
await once(endpoint, 'listening');
const address = endpoint.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;

await using stack = await startBenchStack();
await using whole = await startWholeStack(stack, say, { WEBHOOK_ALLOW_LOOPBACK: 'true' });
await using connection = {
  client: new Client({ connection: await Connection.connect({ address: whole.temporalAddress }) }),
  async [Symbol.asyncDispose]() {
    endpoint.closeAllConnections();
    endpoint.close();
    await this.client.connection.close();
  },
};
const partners = await seedPartners(stack, [null, url]);
const payer = must(partners[0], 'two partners are seeded');
const other = must(partners[1], 'two partners are seeded');
const em = () => stack.deps.orm.em.fork();
const problems: string[] = [];

async function call(
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ payment_code: string; id: string }> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${text.slice(0, 300)}`);
  return JSON.parse(text).data;
}

/** Creates and pays a payment; returns the milliseconds from the payment at the provider to settlement. */
async function settleOne(): Promise<number> {
  const body = { method: 'qris', amount: '20000' };
  const signature = createHmac('sha256', payer.signingSecret).update(JSON.stringify(body)).digest('hex');
  const { id, payment_code } = await call(`http://127.0.0.1:${whole.apiPort}/v1/partners/payments`, body, {
    authorization: `Bearer ${payer.apiKey}`,
    'x-partner-signature': signature,
    'x-idempotency-key': randomUUID(),
  });
  const paid = performance.now();
  await call(`${whole.providerUrl}/sandbox/pay`, { payment_code });
  for (;;) {
    const [row] = await em().execute<{ status: string }[]>('select status from partner_payments where id = ?', [id]);
    if (row?.status !== 'WAITING_PAYMENT') break;
    if (performance.now() - paid > 60_000) throw new Error(`payment ${id} was not settled within a minute`);
    await sleep(3);
  }
  return performance.now() - paid;
}

/** Starts this many webhooks to the other partner. */
async function tell(count: number): Promise<void> {
  const ids = await em().transactional((tx) =>
    Promise.all(
      Array.from({ length: count }, () =>
        recordWebhook(tx, stack.deps.sealer, {
          partnerId: other.id,
          resourceType: 'payout',
          resourceId: newId(),
          version: 1,
          type: 'payout.failed',
          at: new Date(),
          data: {},
        }),
      ),
    ),
  );
  await Promise.all(
    ids.flat().map((id) =>
      connection.client.workflow.start('webhookDelivery', {
        taskQueue: 'payments',
        workflowId: workflowIds.webhookDelivery(id),
        args: [{ deliveryId: id }],
      }),
    ),
  );
}

const pending = async (): Promise<string[]> => {
  const rows = await em().execute<{ id: string }[]>("select id from webhook_deliveries where status = 'pending'");
  return rows.map(({ id }) => id);
};
const handle = (id: string) => connection.client.workflow.getHandle(workflowIds.webhookDelivery(id));

async function slice(hanging: boolean): Promise<number[]> {
  isHanging.now = hanging;
  let isOver = false;
  let telling = Promise.resolve();
  if (hanging) {
    await tell(backlog);
    telling = (async () => {
      while (!isOver) {
        await sleep(1000);
        await tell(perSecond);
      }
    })();
    // Measures the unanswered requests, not the initial burst of webhooks.
    await sleep(settleMs);
  }
  const latencies: number[] = [];
  for (let count = 0; count < perSlice; count += 1) latencies.push(await settleOne());
  if (hanging && held.size === 0) problems.push('the endpoint held no request at the end of the slice');
  isOver = true;
  await telling;
  isHanging.now = false;
  for (const response of held) response.writeHead(200).end();
  for (;;) {
    const left = await pending();
    if (left.length === 0) return latencies;
    // Sends the queued webhooks at once.
    await Promise.allSettled(left.map((id) => handle(id).signal('redeliveryAsked')));
    await sleep(2_000);
  }
}

await slice(false);
const [quiet, hung]: [number[], number[]] = [[], []];
for (let round = 0; round < rounds; round += 1) {
  quiet.push(...(await slice(false)));
  hung.push(...(await slice(true)));
}
const row = (name: string, values: number[]) => [
  name,
  String(values.length),
  quantile(values, 0.5).toFixed(1),
  quantile(values, 0.95).toFixed(1),
];
printTable(
  ['settled', 'payments', 'p50 ms', 'p95 ms'],
  [row('undisturbed', quiet), row('beside an endpoint that hangs', hung)],
);
problems.push(...(await findViolations(em())));
endBench(
  {
    problems,
    bounds: [
      {
        figure: 'p50 beside an endpoint that hangs, ratio to undisturbed',
        value: quantile(hung, 0.5) / quantile(quiet, 0.5),
        most: mostLatency,
      },
    ],
  },
  say,
);
