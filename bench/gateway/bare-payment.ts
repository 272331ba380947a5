import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import Koa from 'koa';
import { z } from 'zod';
import { readPartOptions } from '../../dev/part.ts';
import type { barePayment } from './bare-workflow.ts';

/** By role, a bare Koa route or a bare worker: an early return after one HTTP call. */
const options = z
  .object({
    role: z.enum(['route', 'worker']),
    port: z.int(),
    temporalAddress: z.string(),
    taskQueue: z.string(),
    providerUrl: z.string(),
    secretKey: z.string(),
  })
  .parse(readPartOptions());
const { role, port, temporalAddress: address, taskQueue } = options;
process.once('disconnect', () => process.exit(0));

async function callProvider({ reference }: { reference: string }): Promise<string> {
  const answer = await fetch(`${options.providerUrl}/payment_requests`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${options.secretKey}:`).toString('base64')}`,
      'content-type': 'application/json',
      'idempotency-key': reference,
    },
    body: JSON.stringify({
      reference_id: reference,
      amount: 50_000,
      currency: 'IDR',
      payment_method: {
        type: 'VIRTUAL_ACCOUNT',
        reusability: 'ONE_TIME_USE',
        reference_id: reference,
        virtual_account: { channel_code: 'BNI', channel_properties: { customer_name: 'Bench' } },
      },
    }),
  });
  const { id } = (await answer.json()) as { id?: string };
  if (!answer.ok || id === undefined) throw new Error(`the provider answered ${answer.status}`);
  return id;
}

async function runWorker(): Promise<void> {
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue,
    workflowsPath: new URL('bare-workflow.ts', import.meta.url).pathname,
    activities: { callProvider },
    maxConcurrentActivityTaskExecutions: 40,
    maxConcurrentWorkflowTaskExecutions: 40,
  });
  process.send?.({ ready: true });
  await worker.run();
}

async function runRoute(): Promise<void> {
  const client = new Client({ connection: await Connection.connect({ address }) });
  const app = new Koa();
  app.use(async (ctx) => {
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk);
    const reference = randomUUID();
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof barePayment>('barePayment', {
      workflowId: `bare/${reference}`,
      taskQueue,
      args: [{ reference }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    ctx.body = {
      workflow_id: `bare/${reference}`,
      id: await client.workflow.executeUpdateWithStart('awaitAnswer', { startWorkflowOperation }),
    };
  });
  createServer(app.callback()).listen(port, '127.0.0.1', () => process.send?.({ ready: true }));
}

await (role === 'worker' ? runWorker() : runRoute());
