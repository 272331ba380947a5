import { randomUUID } from 'node:crypto';
import { createPartnerClient } from '../sdk/index.ts';
import { systemAccounts } from '../src/ledger/accounts/account.ts';
import { must } from '../src/shared/assert.ts';
import { startBareFlows } from './bare-flows/start.ts';
import { endBench } from './bounds.ts';
import { compareFlows, type Flow } from './compare-flows.ts';
import { findViolations } from './prove-checks.ts';
import { argument, startBenchStack } from './stack.ts';
import { createWatch } from './watch.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures partners' payouts over the signed API, from the request until they are settled, sequentially and fifty at
 * once: from many partners, and from one, whose reservations wait for each other's lock. The baseline is a workflow
 * with the same two calls to the provider and one row. The sandbox takes 300 ms for a transfer. Fails if a payout does
 * not succeed, and on a wrong sum or an error.
 */
const rounds = argument('rounds', 3);
const crowd = argument('crowd', 50);
const settings = [
  { atOnce: 1, count: argument('alone', 10) },
  { atOnce: crowd, count: argument('together', 100) },
];
const manyPartners = argument('partners', 20);
/** In IDR; the fee is deducted from it. */
const amount = 20_000;
const funded = 50_000_000;

type Mark = 'answered' | 'settled';
const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = await startBenchStack();
await using whole = await startWholeStack(stack, say);
const bare = await startBareFlows(stack, whole, 'http://127.0.0.1:1');
const partners = await seedPartners(
  stack,
  Array.from({ length: manyPartners + 1 }, () => null),
);
const em = () => stack.deps.orm.em.fork();
await stack.owner().execute(
  `select write_journal(gen_random_uuid(), 'bench/funded', 'bench', array[?::uuid] || array_agg(available_account_id),
     array[?::numeric] || array_agg(?::numeric)) from partners`,
  [systemAccounts.gatewayClearing, -funded * partners.length, funded],
);
const clients = partners.map(({ apiKey, signingSecret }) =>
  createPartnerClient({ baseUrl: `http://127.0.0.1:${whole.apiPort}`, apiKey, signingSecret }),
);
const [only, ...many] = clients;
const settled = createWatch(em, "select id from payouts where id = any(?::uuid[]) and status <> 'pending'");
const bareSettled = createWatch(() => stack.owner(), bare.settledSql);

async function timed(request: () => Promise<{ id: string }>, wait: (id: string) => Promise<void>) {
  const sent = performance.now();
  const { id } = await request();
  const answered = performance.now() - sent;
  await wait(id);
  return { answered, settled: performance.now() - sent };
}
let made = 0;
const payOut = (client: typeof only) =>
  timed(() => {
    const body = { amount: String(amount), bank_code: 'BNI', bank_account_number: '0000111111' };
    made += 1;
    return must(client, 'there are partners').payouts.create(body, { idempotencyKey: randomUUID() });
  }, settled);

const { temporal: Temporal, sandbox, worker, api: API } = whole;
const parts = { API, worker, Temporal, PostgreSQL: stack.postgres, sandbox };
const flows: Flow<Mark>[] = [
  {
    name: 'a bare workflow',
    run: () =>
      timed(async () => {
        const answer = await fetch(`${bare.url}/payouts`, { method: 'POST' });
        if (!answer.ok) throw new Error(`the bare flow answered ${answer.status}`);
        return (await answer.json()) as { id: string };
      }, bareSettled),
    parts: { worker: bare.part, Temporal, PostgreSQL: stack.postgres, sandbox: bare.sandbox },
  },
  { name: 'payouts of many partners', run: () => payOut(many[Math.floor(Math.random() * many.length)]), parts },
  { name: 'payouts of one partner', run: () => payOut(only), parts },
];
const { ratio } = await compareFlows(flows, ['answered', 'settled'], { rounds, settings });

const problems: string[] = [];
const [sums] = await em().execute<{ succeeded: number; left: string; expected: string }[]>(
  `select (select count(*)::int from payouts where status = 'succeeded') as succeeded,
     (select sum(account_balance(available_account_id) + account_balance(reserved_account_id)) from partners)::numeric(20)
       as left`,
);
if (sums?.succeeded !== made) problems.push(`${made} payouts were created, ${sums?.succeeded} succeeded`);
const expected = funded * partners.length - amount * made;
if (Number(sums?.left) !== expected) problems.push(`the partners have ${sums?.left}, expected ${expected}`);
problems.push(...(await findViolations(em())));
if (problems.length === 0) say(`Sums are right: ${made} payouts, all succeeded; every check_* view is empty.`);
const [, ofMany, ofOne] = flows.map(({ name }) => name) as [string, string, string];
endBench(
  {
    problems,
    bounds: [
      { figure: 'settled p50 sequentially, ratio to the baseline', value: ratio(ofMany, 1, 'settled'), most: 1.5 },
      {
        figure: `rate at ${crowd}, many partners, ratio to the baseline`,
        value: ratio(ofMany, crowd, 'perSecond'),
        least: 0.3,
      },
      {
        figure: `rate at ${crowd}, one partner, ratio to the baseline`,
        value: ratio(ofOne, crowd, 'perSecond'),
        least: 0.3,
      },
      { figure: `CPU at ${crowd}, many partners, ratio to the baseline`, value: ratio(ofMany, crowd, 'cpu'), most: 4 },
    ],
  },
  say,
);
