import { runChecks } from '../src/ledger/run-checks.ts';
import { compareMoney } from '../src/shared/money.ts';
import { accountCount, bareSchema, hasPgbench, runBareTransfer } from './bare-transfer.ts';
import { httpRequest, type LoadResult, runLoad } from './load.ts';
import { type Payers, seedPayers } from './seed-payers.ts';
import { argument, type BenchStack, flag, poolSize, residentMegabytes, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';

/**
 * Measures, in one run on one PostgreSQL: (a) the bare two-account transfer under pgbench, (b) a bare Koa route with a
 * verified token that calls the same function, (c) our `POST /v1/payments/balance`; at 1, 16 and 64 connections, with
 * random accounts and with everybody paying into one. Prints ratios; a wrong sum or an error fails.
 */
const seconds = argument('seconds', 5);
const warmSeconds = argument('warm', 2);
const connectionCounts = [1, 16, 64];
const wantedOfBare = 0.5;
const leastOfBare = 0.3;
const leastHot = 0.8;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const pick = <T>(items: readonly T[], from = 0): T =>
  items[from + Math.floor(Math.random() * (items.length - from))] as T;

interface Cell extends Omit<LoadResult, 'answers' | 'errors'> {
  what: 'a' | 'b' | 'c';
  connections: number;
  hot: boolean;
  memory: number | null;
}

await using stack = await startBenchStack();
const em = stack.deps.orm.em.fork();
await em.execute(bareSchema);
const bareIds = (await em.execute<{ id: string }[]>('select id from bare_accounts order by n')).map(({ id }) => id);
const payers = await seedPayers(stack, accountCount);
say(
  `PostgreSQL of its own (${flag('durable') ? 'durable' : 'fsync off'}), ${accountCount} accounts, pools of ${poolSize}, ${seconds} s a cell.`,
);
say(hasPgbench() ? '(a) is driven by pgbench.' : '(a) is driven by clients of our own: pgbench is not installed.');

const problems: string[] = [];
const cells: Cell[] = [];
let bareAnswers = 0;
let payments = 0;
const token = payers.tokens[0] as string;
const { databaseUrl, deps } = stack;
const bare = await stack.startBareRoute({
  jwks: await deps.tokens.jwks(),
  issuer: deps.config.AUTH_ISSUER,
  audience: deps.config.AUTH_AUDIENCE,
});
const api = await stack.startApi();

const nextBare = (hot: boolean) => () => {
  const source = pick(bareIds, 1);
  let target = hot ? (bareIds[0] as string) : pick(bareIds);
  while (target === source) target = pick(bareIds);
  return httpRequest('POST', '/', token, { source, target, amount: 1 });
};
const nextPayment = (hot: boolean) => () => {
  const payer = Math.floor(Math.random() * accountCount);
  return httpRequest('POST', '/v1/payments/balance', payers.tokens[payer] as string, {
    reference_type: 'charitable_cause_donate',
    reference_id: hot ? payers.causeIds[0] : pick(payers.causeIds),
    source_account_id: payers.accountIds[payer],
    amount: 1,
  });
};

async function measure(what: 'b' | 'c', connections: number, hot: boolean): Promise<Cell> {
  const { port, part } = what === 'b' ? bare : api;
  const next = what === 'b' ? nextBare(hot) : nextPayment(hot);
  const load = { port, connections, status: 201, next };
  const warm = await runLoad({ ...load, seconds: warmSeconds });
  const { answers, errors, ...figures } = await runLoad({ ...load, seconds });
  for (const failed of [warm.errors, errors]) {
    for (const [line, count] of Object.entries(failed)) problems.push(`(${what}) answered ${line}, ${count} times`);
  }
  const all = answers + warm.answers - sum(Object.values(errors)) - sum(Object.values(warm.errors));
  if (what === 'b') bareAnswers += all;
  else payments += all;
  return { what, connections, hot, ...figures, memory: residentMegabytes(part.pid) };
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

for (const hot of [false, true]) {
  for (const connections of connectionCounts) {
    const a = await runBareTransfer({ databaseUrl, connections, seconds, hot, ids: bareIds });
    cells.push({ what: 'a', connections, hot, ...a, memory: null });
    cells.push(await measure('b', connections, hot));
    cells.push(await measure('c', connections, hot));
  }
}

const of = (what: Cell['what'], connections: number, hot: boolean): number =>
  cells.find((cell) => cell.what === what && cell.connections === connections && cell.hot === hot)?.perSecond ?? 0;
const names = { a: '(a) bare transfer', b: '(b) bare route', c: '(c) POST /v1/payments/balance' };
printTable(
  ['', 'accounts', 'connections', 'per second', 'p50 ms', 'p99 ms', 'MB', 'of (b)', 'of its random'],
  cells.map((cell) => [
    names[cell.what],
    cell.hot ? 'one hot' : 'random',
    String(cell.connections),
    cell.perSecond.toFixed(0),
    cell.p50Ms.toFixed(2),
    cell.p99Ms.toFixed(2),
    String(cell.memory ?? ''),
    (cell.perSecond / of('b', cell.connections, cell.hot)).toFixed(2),
    cell.hot ? (cell.perSecond / of(cell.what, cell.connections, false)).toFixed(2) : '',
  ]),
);
const ofBare = of('c', 16, false) / of('b', 16, false);
const hotShare = of('c', 16, true) / of('c', 16, false);
say(`\n(c) of (b) at 16 connections: ${ofBare.toFixed(2)} (at least ${leastOfBare}, wanted ${wantedOfBare})`);
say(`(c) into one hot cause, of its own random figure: ${hotShare.toFixed(2)} (at least ${leastHot})`);

await proveSums(stack, payers);
if (problems.length > 0) {
  for (const problem of problems) say(`WRONG: ${problem}`);
  process.exitCode = 1;
} else {
  say(`Sums are right: ${payments} payments acknowledged, each found, nothing else; every check_* view is empty.`);
}

async function proveSums(
  { deps: { orm } }: BenchStack,
  { accountIds, causeAccountIds, opening, past }: Payers,
): Promise<void> {
  const fork = orm.em.fork();
  const ask = async (sql: string, params: unknown[] = []): Promise<string> =>
    (await fork.execute<{ value: string }[]>(sql, params))[0]?.value ?? '';
  const equal = (name: string, is: string, should: string) => {
    if (compareMoney(is, should) !== 0) problems.push(`${name}: ${is}, and should be ${should}`);
  };
  const held = (ids: readonly string[]) =>
    ask('select coalesce(sum(balance), 0)::text as value from account_balances where account_id = any(?::uuid[])', [
      `{${ids.join(',')}}`,
    ]);
  equal('bare accounts', await ask('select sum(balance)::text as value from bare_accounts'), `${accountCount * 1e9}`);
  equal('what payers hold', await held(accountIds), `${accountCount * opening - past - payments}`);
  equal('what causes hold', await held(causeAccountIds), `${past + payments}`);
  equal('transactions', await ask('select count(*)::text as value from transactions'), `${past + payments}`);
  equal('donations', await ask('select count(*)::text as value from donations'), `${past + payments}`);
  if (bareAnswers === 0 || payments === 0) problems.push('nothing was measured');
  const checks = await runChecks(fork);
  for (const { check, violations } of checks) if (violations > 0) problems.push(`${check}: ${violations} violations`);
}
