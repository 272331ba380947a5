import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureWorkflowBundle } from '../dev/bundle.ts';
import { ensureDemoData } from '../dev/demo-data.ts';
import { ensureDemoPartner } from '../dev/demo-partner.ts';
import type { Part } from '../dev/part.ts';
import { findFreePort } from '../dev/ports.ts';
import { callbackPath, startSandbox } from '../dev/sandbox-part.ts';
import { startApi, startWorker } from '../dev/service-parts.ts';
import { startTemporal } from '../dev/temporal.ts';
import { findTemporalBinary } from '../dev/temporal-binary.ts';
import { newApiKey, newSigningSecret, newWebhookSecret } from '../src/partners/partner-secrets.ts';
import type { BenchStack } from './stack.ts';

/** The whole product over a bench's database: Temporal, the sandbox provider, a worker and an API. */
export interface WholeStack extends AsyncDisposable {
  apiPort: number;
  temporalAddress: string;
  providerUrl: string;
  temporal: Part;
  sandbox: Part;
  worker: Part;
  api: Part;
  /** The log file of a part. */
  place(name: string): { logFile: string };
  /** Registers a part to be stopped at the end, before the parts registered earlier. */
  keep(starting: Promise<Part>): Promise<Part>;
}

/** Starts everything that a gateway payment needs. */
export async function startWholeStack(
  stack: BenchStack,
  say: (text: string) => void,
  more: Record<string, string> = {},
): Promise<WholeStack> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-bench-'));
  const parts: Part[] = [];
  const place = (name: string) => ({ logFile: join(directory, `${name}.log`) });
  const keep = async (starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    parts.push(part);
    return part;
  };
  const [temporalPort, sandboxPort, apiPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const temporalAddress = `127.0.0.1:${temporalPort}`;
  const providerUrl = `http://127.0.0.1:${sandboxPort}`;
  const env = {
    ...stack.env,
    // Production requires https for the provider, which the sandbox does not have.
    NODE_ENV: 'test',
    PORT: String(apiPort),
    PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
    TEMPORAL_ADDRESS: temporalAddress,
    XENDIT_URL: providerUrl,
    RATE_LIMIT_REQUESTS_PER_10S: '1000000',
    ...more,
  };
  const binary = await findTemporalBinary(say);
  const temporal = await keep(
    startTemporal({ binary, port: temporalPort, databaseFile: join(directory, 'temporal.db') }, place('temporal')),
  );
  const provider = {
    port: sandboxPort,
    directory: join(directory, 'sandbox'),
    callbackUrl: `http://127.0.0.1:${apiPort}${callbackPath}`,
    callbackToken: stack.env.XENDIT_CALLBACK_TOKEN ?? '',
    secretKey: stack.env.XENDIT_SECRET_KEY ?? '',
  };
  const sandbox = await keep(startSandbox(provider, place('sandbox')));
  const WORKFLOW_BUNDLE = await ensureWorkflowBundle(place('bundle'));
  const worker = await keep(startWorker({ ...place('worker'), env: { ...env, WORKFLOW_BUNDLE } }));
  const api = await keep(startApi({ ...place('api'), env }));
  return {
    apiPort,
    temporalAddress,
    providerUrl,
    temporal,
    sandbox,
    worker,
    api,
    place,
    keep,
    async [Symbol.asyncDispose]() {
      for (const part of parts.reverse()) await part.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface BenchPartner {
  id: string;
  apiKey: string;
  signingSecret: string;
  approver: { apiKey: string; signingSecret: string };
}

/** Creates the demo users and one partner for each entry, with its webhook endpoint or none. */
export async function seedPartners(
  stack: BenchStack,
  webhookUrls: readonly (string | null)[],
): Promise<BenchPartner[]> {
  const { sealer } = stack.deps;
  const passwords = {
    platform_super_admin: randomUUID(),
    second_super_admin: randomUUID(),
    third_super_admin: randomUUID(),
    platform_admin: randomUUID(),
    organization_admin: randomUUID(),
    individual: randomUUID(),
    second_individual: randomUUID(),
  };
  const people = await ensureDemoData(stack.owner(), sealer, passwords);
  const partners: BenchPartner[] = [];
  for (const webhookUrl of webhookUrls) {
    const approver = { apiKey: newApiKey(), signingSecret: newSigningSecret() };
    const secrets = {
      apiKey: newApiKey(),
      signingSecret: newSigningSecret(),
      webhookSecret: newWebhookSecret(),
      approver,
    };
    const { id } = await ensureDemoPartner(stack.owner(), sealer, {
      secrets,
      organizationId: people.organization_admin.organization_id ?? '',
      administrator: people.platform_super_admin.user_id,
      webhookUrl,
    });
    partners.push({ id, apiKey: secrets.apiKey, signingSecret: secrets.signingSecret, approver });
  }
  return partners;
}
