import { join } from 'node:path';
import { type Part, startPart } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { startSandbox } from '../../dev/sandbox-part.ts';
import type { BenchStack } from '../stack.ts';
import type { WholeStack } from '../whole-stack.ts';

/** The baselines' process, with its own sandbox provider, so that its callbacks never reach the product. */
export interface BareFlows {
  url: string;
  providerUrl: string;
  /** SQL that takes an array of ids and selects the settled ones, as `id`. */
  settledSql: string;
  part: Part;
  sandbox: Part;
}

/** Starts the baselines on the same Temporal and PostgreSQL; each collection is reported to `webhookUrl`. */
export async function startBareFlows(stack: BenchStack, whole: WholeStack, webhookUrl: string): Promise<BareFlows> {
  await stack.owner().execute('create table bare_settled (id uuid primary key, at timestamptz not null default now())');
  const [port, providerPort] = [await findFreePort(), await findFreePort()];
  const secretKey = stack.env.XENDIT_SECRET_KEY ?? '';
  const { logFile } = whole.place('bare-sandbox');
  const provider = {
    port: providerPort,
    directory: `${logFile}.data`,
    callbackUrl: `http://127.0.0.1:${port}/callbacks`,
    callbackToken: 'bare',
    secretKey,
  };
  const sandbox = await whole.keep(startSandbox(provider, { logFile }));
  const providerUrl = `http://127.0.0.1:${providerPort}`;
  const { databaseUrl } = stack;
  const part = await whole.keep(
    startPart({
      ...whole.place('bare-flows'),
      name: 'The bare flows',
      script: join(import.meta.dirname, 'part.ts'),
      env: process.env,
      options: { port, temporalAddress: whole.temporalAddress, providerUrl, secretKey, databaseUrl, webhookUrl },
      readyWithinMs: 90_000,
    }),
  );
  const settledSql = 'select id from bare_settled where id = any(?::uuid[])';
  return { url: `http://127.0.0.1:${port}`, providerUrl, settledSql, part, sandbox };
}
