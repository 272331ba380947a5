import { randomUUID } from 'node:crypto';
import { createPartnerClient } from '../sdk/index.ts';
import { systemAccounts } from '../src/ledger/accounts/account.ts';
import { pauseAfterBeginning } from '../src/money-out/payout-batches/payout-batch.ts';
import { must } from '../src/shared/assert.ts';
import { endBench } from './bounds.ts';
import { median } from './figures.ts';
import { findViolations } from './prove-checks.ts';
import { argument, startBenchStack } from './stack.ts';
import { countCpu } from './usage.ts';
import { createWatch } from './watch.ts';
import { seedPartners, startWholeStack } from './whole-stack.ts';

/**
 * Measures a batch of payouts over the signed API: how long the approval takes (it reserves the whole batch), how
 * fast its payouts are sent, and how much longer another partner's payouts take during the batch than before
 * and after it. Fails if an item is not sent exactly once, and on a wrong sum or an error.
 */
const count = argument('count', 1000);
/**
 * How many payouts the other partner sends, one at a time, before the batch and again after it. During the batch it
 * sends as many as fit.
 */
const around = argument('around', 25);
/** In IDR; the fee is deducted from it. */
const amount = 20_000;
const funded = 50_000_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = await startBenchStack();
await using whole = await startWholeStack(stack, say);
const partners = await seedPartners(stack, [null, null]);
const em = () => stack.deps.orm.em.fork();
await stack.owner().execute(
  `select write_journal(gen_random_uuid(), 'bench/funded', 'bench', array[?::uuid] || array_agg(available_account_id),
     array[?::numeric] || array_agg(?::numeric)) from partners`,
  [systemAccounts.gatewayClearing, -funded * partners.length, funded],
);
const clientOf = ({ apiKey, signingSecret }: { apiKey: string; signingSecret: string }) =>
  createPartnerClient({ baseUrl: `http://127.0.0.1:${whole.apiPort}`, apiKey, signingSecret });
const [paying, other] = partners.map((partner) => must(partner, 'both partners are seeded'));
const maker = clientOf(must(paying, 'the partner is seeded'));
const single = clientOf(must(other, 'the other partner is seeded'));
const approver = clientOf(must(paying, 'the partner is seeded').approver);
const settled = createWatch(em, "select id from payouts where id = any(?::uuid[]) and status <> 'pending'");

const account = { bank_code: 'BNI', bank_account_number: '0000111111' };
let made = 0;
/** Sends one payout and returns the milliseconds until it settles. */
async function payOut(): Promise<number> {
  const sent = performance.now();
  const { id } = await single.payouts.create({ amount: String(amount), ...account }, { idempotencyKey: randomUUID() });
  made += 1;
  await settled(id);
  return performance.now() - sent;
}
async function payOften(isOver: (done: number) => boolean): Promise<number[]> {
  const taken: number[] = [];
  while (!isOver(taken.length)) taken.push(await payOut());
  return taken;
}

// Warms up caches and pools.
await payOften((done) => done >= Math.ceil(around / 5));
const before = await payOften((done) => done >= around);
const items = Array.from({ length: count }, (_, place) => ({
  ...{ amount: String(amount), external_ref: `item-${place}` },
  ...account,
}));
const { id } = await maker.payoutBatches.create({ items }, { idempotencyKey: randomUUID() });
const { temporal: Temporal, sandbox, worker, api: API } = whole;
const used = countCpu({ API, worker, Temporal, PostgreSQL: stack.postgres, sandbox });
const asked = performance.now();
await approver.payoutBatches.approve(id);
const reservedIn = performance.now() - asked;
const ends = createWatch(em, "select id from payout_batches where id = any(?::uuid[]) and status = 'completed'");
let isCompleted = false;
const completion = (async () => {
  // A watch times out after two minutes.
  for (;;) {
    try {
      return await ends(id);
    } catch (error) {
      const [row] = await em().execute<{ status: string }[]>('select status from payout_batches where id = ?', [id]);
      if (row?.status !== 'processing') throw error;
    }
  }
})().finally(() => {
  isCompleted = true;
});
const during = await payOften((done) => isCompleted && done > 0);
await completion;
const completedIn = performance.now() - asked;
const cpu = Object.entries(used()).map(([part, ms]) => `${part} ${Math.round(ms / (count + during.length))}`);
const after = await payOften((done) => done >= around);

// The batch looks for its completion at growing intervals, so the last payout is final some time before.
const [{ seconds: sentIn }] = await em().execute<[{ seconds: number }]>(
  `select extract(epoch from max(p.succeeded_at) - b.decided_at)::float8 as seconds
   from payout_batches b join payouts p on p.batch_id = b.id where b.id = ? group by b.id`,
  [id],
);
const perSecond = count / sentIn;
const pace = 1000 / pauseAfterBeginning(0);
const [inside, outside] = [median(during), median([...before, ...after])];
const [sent, completed] = [sentIn.toFixed(1), (completedIn / 1000).toFixed(1)];
say(
  `A batch of ${count}: reserved in ${Math.round(reservedIn)} ms, sent in ${sent} s, completed after ${completed} s.`,
);
say(
  `Payouts of another partner settled in ${Math.round(outside)} ms (p50), and in ${Math.round(inside)} ms during the batch.`,
);
say(`CPU per payout during the batch, in ms: ${cpu.join(', ')}.`);

const problems: string[] = [];
const [sums] = await em().execute<{ succeeded: number; twice: number; left: string }[]>(
  `select (select count(*)::int from payouts where status = 'succeeded') as succeeded,
     (select count(*)::int from (select from payout_attempts group by payout_id having count(*) > 1) often) as twice,
     (select sum(account_balance(available_account_id) + account_balance(reserved_account_id)) from partners)::numeric(20)
       as left`,
);
if (sums?.succeeded !== made + count)
  problems.push(`${made + count} payouts were created, ${sums?.succeeded} succeeded`);
if (sums?.twice !== 0) problems.push(`${sums?.twice} payouts were requested more than once`);
const expected = funded * partners.length - amount * (made + count);
if (Number(sums?.left) !== expected) problems.push(`the partners' balances sum to ${sums?.left}, expected ${expected}`);
problems.push(...(await findViolations(em())));
endBench(
  {
    problems,
    bounds: [
      { figure: 'approval time in seconds', value: reservedIn / 1000, most: 2 },
      { figure: `send rate, relative to the target of ${pace} per second`, value: perSecond / pace, least: 0.8 },
      { figure: 'settlement p50 during the batch, relative to without it', value: inside / outside, most: 1.1 },
    ],
  },
  say,
);
