import { createHmac, randomUUID } from 'node:crypto';
import { signRequest } from '../src/partners/signature.ts';
import { must } from '../src/shared/assert.ts';
import { type Sender, type WorstRequest, worstRequests } from './bodies/worst-requests.ts';
import { endBench } from './bounds.ts';
import { argument, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { readUsage } from './usage.ts';
import { seedPartners } from './whole-stack.ts';

/**
 * Sends an API process the worst known bodies, as each kind of sender, and prints which cost the most CPU for their
 * size (docs/contract.md 0). `--random 300` sends 300 bodies of random forms and sizes; `--seed` makes them repeatable.
 * Fails if a body costs more than the bound or causes an avoidable 5xx.
 */
const repeats = argument('repeats', 2);
const random = argument('random', 0);
const seed = argument('seed', Date.now() % 1_000_000);
const shown = argument('shown', 25);
/**
 * `--only uploader` sends only the bodies of this kind of sender, `--only 'a batch'` only those whose names start with
 * it.
 */
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const kibibyte = 1024;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const problems: string[] = [];

await using stack = await startBenchStack();
// Several partners, because one may have only a few open batches.
const partners = await seedPartners(stack, Array(4).fill(null));
let signed = 0;
const [user] = await stack
  .owner()
  .execute<{ id: string }[]>("select id from users where user_type = 'individual' order by id limit 1");
const { id: userId } = must(user, 'there is a user');
const { token } = await stack.deps.tokens.sign({ userId, userType: 'individual', organizationId: null });
const { port, part: api } = await stack.startApi();

const asUser = () => ({ authorization: `Bearer ${token}` });
const proofs: Record<Sender, (body: Uint8Array, path: string) => Record<string, string>> = {
  nobody: () => ({}),
  user: asUser,
  uploader: asUser,
  provider: () => ({ 'x-callback-token': must(stack.env.XENDIT_CALLBACK_TOKEN, 'the callback token is set') }),
  partner(body, path) {
    signed += 1;
    const { apiKey, signingSecret } = must(partners[signed % partners.length], 'there are partners');
    const key = randomUUID();
    const request = { method: 'POST', target: path, idempotencyKey: key, body };
    return {
      authorization: `Bearer ${apiKey}`,
      'x-idempotency-key': key,
      'x-partner-signature': createHmac('sha256', signingSecret).update(body).digest('hex'),
      'x-partner-signature-v2': signRequest(signingSecret, Math.floor(Date.now() / 1000), request),
    };
  },
};

/** Sends the request once; a connection closed while sending counts as an answer. */
async function send({ sender, path, body, headers, name }: WorstRequest): Promise<number> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...headers, ...proofs[sender](body, path) },
      body,
    });
    await answer.arrayBuffer();
    // There is no file store here, so an upload may fail with a 5xx.
    if (answer.status >= 500 && sender !== 'uploader') problems.push(`${name} (${sender}): ${answer.status}`);
    return answer.status;
  } catch {
    return 0;
  }
}

const allowedMs = ({ sender, body }: WorstRequest): number =>
  60 + Math.max(0, body.length / kibibyte - 16) * (sender === 'uploader' ? 0.2 : 2);

interface Cost {
  request: WorstRequest;
  status: number;
  ms: number;
  /** CPU time as a share of the limit. */
  share: number;
}

async function measure(request: WorstRequest, times: number): Promise<Cost> {
  const before = readUsage(api).cpuMs;
  let status = 0;
  for (let time = 0; time < times; time += 1) status = await send(request);
  const ms = (readUsage(api).cpuMs - before) / times;
  return { request, status, ms, share: ms / allowedMs(request) };
}

/** A number from 0 to 1, the same for the same seed and count. */
const drawn = (count: number): number => {
  const digest = createHmac('sha256', String(seed)).update(String(count)).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
};

async function drawRequests(): Promise<Cost[]> {
  say(`seed ${seed}`);
  const costs: Cost[] = [];
  while (costs.length < random) {
    const all = [...worstRequests(drawn(costs.length * 2) ** 2)];
    const request = must(all[Math.floor(drawn(costs.length * 2 + 1) * all.length)], 'there are requests');
    costs.push(await measure(request, repeats));
  }
  return costs;
}

async function sendAll(): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const request of worstRequests()) {
    if (only === undefined || request.sender === only || request.name.startsWith(only))
      costs.push(await measure(request, repeats));
  }
  return costs;
}

// The first requests include compilation.
for (const request of [...worstRequests(0.05)].filter((_, index) => index % 5 === 0)) await send(request);
const byShare = (left: Cost, right: Cost) => right.share - left.share;
const first = (random > 0 ? await drawRequests() : await sendAll()).sort(byShare).slice(0, shown);
// The system counts CPU time in hundredths of a second, and garbage collection is unpredictable: the most expensive
// requests are measured again.
const costs: Cost[] = [];
for (const { request } of first) costs.push(await measure(request, repeats * 6));
costs.sort(byShare);
const alive = await fetch(`http://127.0.0.1:${port}/healthz`).then(
  ({ status }) => status === 200,
  () => false,
);
if (!alive) problems.push('the API process did not survive');
printTable(
  ['sender', 'body', 'status', 'KiB', 'ms', 'ms per KiB', 'of the bound'],
  costs.map(({ request: { sender, name, path, body }, status, ms, share }) => [
    sender,
    `${name} to ${path}`,
    String(status),
    (body.length / kibibyte).toFixed(1),
    ms.toFixed(0),
    ((ms * kibibyte) / body.length).toFixed(2),
    share.toFixed(2),
  ]),
);
endBench(
  {
    problems,
    bounds: [{ figure: 'The most expensive body, share of the bound', value: costs[0]?.share ?? Number.NaN, most: 1 }],
  },
  say,
);
