#!/usr/bin/env node
/**
 * Forwards this partner's webhooks to a port of this machine while you develop: polls the API for new deliveries, signs
 * them again with its own secret and prints your receiver's answers. A delivery that your receiver does not answer with
 * a 2xx is sent again up to three times, at growing intervals, before the next one. The API's own deliveries are not
 * affected.
 *
 *   npx amanah-listen --port 4000 [--path /hook] [--endpoint <id>] [--secret whsec_...]
 *
 * The key needs `manage-webhooks`. URL, key and signing secret come from AMANAH_API_URL, AMANAH_API_KEY and
 * AMANAH_SIGNING_SECRET, or from `credentials.json` in DATA_DIR (.amanah). Works only with an API in development.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createPartnerClient, type PartnerClient } from './client.ts';
import { PartnerApiError } from './errors.ts';
import type { WebhookDelivery } from './generated.ts';

const usage = 'npx amanah-listen --port 4000 [--path /hook] [--endpoint <id>] [--secret whsec_...]';
const help = `${usage}

Forwards your webhooks to a port of this machine while you develop, signed with --secret (by default a new one).
The key needs manage-webhooks. URL, key and signing secret come from AMANAH_API_URL, AMANAH_API_KEY and
AMANAH_SIGNING_SECRET, or from credentials.json in DATA_DIR (.amanah).
`;
const everyMs = 1_000;
/** How much later than its creation time a delivery may become visible, because its transaction took time. */
const overlapMs = 60_000;
const answerWithinMs = 15_000;
/** The pauses before an unaccepted delivery is sent again; after the last attempt it is skipped. */
const pausesMs = [1_000, 2_000, 4_000];
/** The longest wait between two failures, and the longest that the API may ask for. */
const longestWaitMs = 30_000;
const longestRetryAfterMs = 60 * 60_000;
/** Temporary errors: time-outs and rate limits. */
const passing = new Set([408, 425, 429]);

interface Listening {
  client: PartnerClient;
  /** Where deliveries are forwarded to. */
  target: string;
  /** The secret that deliveries are signed with: `whsec_` and base64. */
  secret: string;
  /** Forwards only deliveries to this endpoint; without it, each event once, whichever endpoints receive it. */
  endpointId: string | undefined;
  say(line: string): void;
}

/** Progress: the search for new deliveries starts at `from` and skips those in `seen`. */
interface Cursor {
  from: number;
  /** The creation times of deliveries, or events, that are done. */
  seen: Map<string, number>;
}

/**
 * Forwards every delivery created from now on, until the process exits. Waits while the API is down or rate-limits
 * calls; throws if it refuses the key.
 */
async function listen(listening: Listening): Promise<never> {
  const cursor: Cursor = { from: Date.now() - overlapMs, seen: new Map() };
  const { say, target, secret } = listening;
  let isListening = false;
  for (let failures = 0; ; ) {
    try {
      for (const delivery of await findNew(listening, cursor)) {
        if (isListening) await forward(listening, delivery);
        // Added only now: deliveries that the API has not returned yet will be found again.
        cursor.seen.set(keyOf(listening, delivery), Date.parse(delivery.created_at));
      }
      moveOn(cursor);
      if (!isListening) say(`Listening. New webhooks are forwarded to ${target}, signed with ${secret}`);
      isListening = true;
      failures = 0;
      await sleep(everyMs);
    } catch (error) {
      if (error instanceof NotInDevelopment || isFinal(error, isListening)) throw error;
      failures += 1;
      const waitMs = waitAfter(error, failures);
      const why = error instanceof Error ? error.message : error;
      say(`A call to the API failed (${why}); retrying in ${Math.ceil(waitMs / 1000)} s.`);
      await sleep(waitMs);
    }
  }
}

/** The deliveries to forward next, oldest first. */
async function findNew(listening: Listening, { from, seen }: Cursor): Promise<WebhookDelivery[]> {
  const { client, endpointId } = listening;
  const found = new Map<string, WebhookDelivery>();
  const query = { from: new Date(from).toISOString(), ...(endpointId !== undefined && { endpoint_id: endpointId }) };
  for await (const delivery of client.webhookDeliveries.all(query)) {
    const key = keyOf(listening, delivery);
    if (!seen.has(key) && !found.has(key)) found.set(key, delivery);
  }
  return [...found.values()].toReversed();
}

const keyOf = ({ endpointId }: Listening, { id, type, resource_id, version }: WebhookDelivery): string =>
  endpointId === undefined ? `${type} ${resource_id} ${version}` : id;

/** Everything found was forwarded: the next search begins slightly before the newest. */
function moveOn(cursor: Cursor): void {
  for (const at of cursor.seen.values()) cursor.from = Math.max(cursor.from, at - overlapMs);
  for (const [key, at] of cursor.seen) if (at < cursor.from) cursor.seen.delete(key);
}

/**
 * Whether retrying cannot help. Once the command is listening, an answer that is not from the API comes from a proxy.
 */
function isFinal(error: unknown, isListening: boolean): boolean {
  if (!(error instanceof PartnerApiError) || error.status >= 500 || passing.has(error.status)) return false;
  return !isListening || error.code !== 'UNREADABLE';
}

/** How long to wait after this many consecutive failures: as long as the API asks, otherwise longer each time. */
function waitAfter(error: unknown, failures: number): number {
  const growing = Math.min(everyMs * 2 ** (failures - 1), longestWaitMs);
  const asked = error instanceof PartnerApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.min(Math.max(growing, asked), longestRetryAfterMs);
}

class NotInDevelopment extends Error {}

/** Sends one delivery to the receiver until it is accepted or all tries are used; reports the outcome of each try. */
async function forward(listening: Listening, delivery: WebhookDelivery): Promise<void> {
  const { client, say } = listening;
  const line = `${delivery.created_at}  ${delivery.type}  ${delivery.resource_id}  version ${delivery.version}  →`;
  const read = await client.webhookDeliveries.get(delivery.id).catch((error: unknown) => {
    if (error instanceof PartnerApiError && error.is('RESOURCE_NOT_FOUND')) return null;
    throw error;
  });
  if (read === null) return say(`${line} not forwarded: the API no longer has it`);
  const { body } = read;
  if (body === undefined)
    throw new NotInDevelopment('This API is not in development and does not return the bodies of webhooks');
  for (const pauseMs of [...pausesMs, null]) {
    const { isTaken, answered } = await post(listening, delivery.webhook_id, body);
    if (isTaken) return say(`${line} ${answered}`);
    say(`${line} ${answered}; ${pauseMs === null ? 'not sent again' : `sent again in ${pauseMs / 1000} s`}`);
    if (pauseMs !== null) await sleep(pauseMs);
  }
}

/** Sends one delivery to the receiver, once, signed now. */
async function post(
  { target, secret }: Listening,
  id: string,
  body: string,
): Promise<{ isTaken: boolean; answered: string }> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  };
  const signal = AbortSignal.timeout(answerWithinMs);
  try {
    const response = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return { isTaken: response.ok, answered: String(response.status) };
  } catch (error) {
    const { cause, message } = error as Error;
    return { isTaken: false, answered: `no answer: ${cause instanceof Error ? cause.message : message}` };
  }
}

/** The command's options; null if asked for help. Throws an error whose message is for people. */
function readOptions(): Listening | null {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      path: { type: 'string', default: '/' },
      endpoint: { type: 'string' },
      secret: { type: 'string', default: `whsec_${randomBytes(32).toString('base64')}` },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new TypeError(`--port is missing: ${usage}`);
  if (!/^whsec_[\w+/]+=*$/.test(values.secret)) throw new TypeError('--secret must be like whsec_...');
  const { AMANAH_API_URL, AMANAH_API_KEY, AMANAH_SIGNING_SECRET, DATA_DIR = '.amanah' } = process.env;
  const given = AMANAH_API_KEY === undefined ? readCredentials(DATA_DIR) : null;
  if (given === null && !AMANAH_API_URL) throw new TypeError('Set AMANAH_API_URL beside AMANAH_API_KEY');
  if (given === null && !AMANAH_SIGNING_SECRET) throw new TypeError('Set AMANAH_SIGNING_SECRET beside AMANAH_API_KEY');
  return {
    client: createPartnerClient({
      baseUrl: given?.urls.api ?? AMANAH_API_URL ?? '',
      apiKey: given?.partner.api_key ?? AMANAH_API_KEY ?? '',
      signingSecret: given?.partner.signing_secret ?? AMANAH_SIGNING_SECRET ?? '',
    }),
    target: new URL(values.path, `http://127.0.0.1:${port}`).href,
    secret: values.secret,
    endpointId: values.endpoint,
    say: (line) => void process.stdout.write(`${line}\n`),
  };
}

interface Credentials {
  urls: { api: string };
  partner: { api_key: string; signing_secret: string };
}
function readCredentials(directory: string): Credentials {
  const file = join(directory, 'credentials.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new TypeError(
      `Set AMANAH_API_URL, AMANAH_API_KEY and AMANAH_SIGNING_SECRET, or run a stack, which writes ${file}`,
    );
  }
}

async function main(): Promise<void> {
  try {
    const options = readOptions();
    if (options === null) process.stdout.write(help);
    else await listen(options);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

void main();
