import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import Koa from 'koa';
import pg from 'pg';
import { z } from 'zod';
import { readPartOptions } from '../../dev/part.ts';
import type { BareSteps, bareCollection, barePayout } from './workflows.ts';

/** The baselines of payouts and collections: routes and worker in one process, making the same provider calls. */
const options = z
  .object({
    port: z.int(),
    temporalAddress: z.string(),
    providerUrl: z.string(),
    secretKey: z.string(),
    databaseUrl: z.string(),
    webhookUrl: z.string(),
  })
  .parse(readPartOptions());
const { port, temporalAddress: address, providerUrl, secretKey, webhookUrl } = options;
const taskQueue = 'bare-flows';
const pool = new pg.Pool({ connectionString: options.databaseUrl, max: 16 });
pool.on('error', () => process.exit(1));
process.once('disconnect', () => process.exit(0));

async function callProvider(path: string, reference: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${providerUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`,
      'content-type': 'application/json',
      'idempotency-key': reference,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

const Requested = z.object({
  payment_method: z.object({
    virtual_account: z.object({ channel_properties: z.object({ virtual_account_number: z.string() }) }),
  }),
});

const steps: BareSteps = {
  async send(reference: string): Promise<void> {
    await callProvider('/v2/payouts', reference, {
      reference_id: reference,
      channel_code: 'ID_BNI',
      channel_properties: { account_number: '0000111111', account_holder_name: 'Bench' },
      amount: 10_000,
      currency: 'IDR',
    });
  },
  async request(reference: string): Promise<string> {
    const answer = await callProvider('/payment_requests', reference, {
      reference_id: reference,
      amount: 50_000,
      currency: 'IDR',
      payment_method: {
        type: 'VIRTUAL_ACCOUNT',
        reusability: 'ONE_TIME_USE',
        reference_id: reference,
        virtual_account: { channel_code: 'BNI', channel_properties: { customer_name: 'Bench' } },
      },
    });
    return Requested.parse(answer).payment_method.virtual_account.channel_properties.virtual_account_number;
  },
  async settle(reference: string, path: string): Promise<void> {
    await callProvider(path, reference);
    await pool.query('insert into bare_settled (id) values ($1) on conflict do nothing', [reference]);
  },
  async tell(reference: string): Promise<void> {
    const body = JSON.stringify({ data: { id: reference } });
    await fetch(webhookUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  },
};

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: new URL('workflows.ts', import.meta.url).pathname,
  activities: { ...steps },
});
const { workflow } = new Client({ connection: await Connection.connect({ address }) });
const started = (reference: string): { workflowId: string; taskQueue: string; args: [string] } => ({
  workflowId: `bare-flow/${reference}`,
  taskQueue,
  args: [reference],
});

const routes: Record<string, (body: string) => Promise<object>> = {
  async '/payouts'() {
    const id = randomUUID();
    await workflow.start<typeof barePayout>('barePayout', started(id));
    return { id };
  },
  async '/collections'() {
    const id = randomUUID();
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof bareCollection>('bareCollection', {
      ...started(id),
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return { id, payment_code: await workflow.executeUpdateWithStart('awaitCode', { startWorkflowOperation }) };
  },
  async '/callbacks'(body) {
    const { data } = z.object({ data: z.looseObject({ reference_id: z.string() }) }).parse(JSON.parse(body));
    await workflow.getHandle(`bare-flow/${data.reference_id}`).signal('hint');
    return {};
  },
};
const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk);
  ctx.body = await routes[ctx.path]?.(Buffer.concat(chunks).toString());
});
createServer(app.callback()).listen(port, '127.0.0.1', () => process.send?.({ ready: true }));
await worker.run();
