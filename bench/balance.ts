import { runChecks } from '../src/ledger/run-checks.ts';
import { must } from '../src/shared/assert.ts';
import { compareMoney } from '../src/shared/money.ts';
import { accountCount, bareSchema, hasPgbench, runBareTransfer } from './bare-transfer.ts';
import { type Bound, endBench } from './bounds.ts';
import { httpRequest, type LoadResult, runLoad } from './load.ts';
import { type Payers, seedPayers } from './seed-payers.ts';
import { argument, type BenchStack, flag, poolSize, residentMegabytes, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';

/**
 * Measures, in one run on one PostgreSQL: (a) the bare two-account transfer under pgbench, (b) a bare Koa route with a
 * verified token that calls the same function, (c) our `POST /v1/payments/balance`; at 1, 16 and 64 connections, with
 * random accounts and with everybody paying into one. All alternate in short slices, so that they run under the same
 * conditions. Prints ratios; a wrong sum or an error fails.
 */
const rounds = argument('rounds', 5);
const sliceSeconds = argument('seconds', 1);
const whats = ['a', 'b', 'c'] as const;
const onlyConnections = argument('connections', 0);
const connectionCounts = onlyConnections > 0 ? [onlyConnections] : [1, 16, 64];
/** The ratio of (c) to (b), by connections. */
const leastOfBare: Record<number, { least: number; wanted: number }> = {
  16: { least: 0.3, wanted: 0.5 },
  64: { least: 0.5, wanted: 0.7 },
};
const leastHot = 0.8;
/** The ratio of p99 to p50, at 16 connections. */
const mostSpread = 3;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const pick = <T>(items: readonly T[], from = 0): T =>
  items[from + Math.floor(Math.random() * (items.length - from))] as T;

type Slice = Omit<LoadResult, 'answers' | 'errors'>;
interface Cell extends Slice {
  what: (typeof whats)[number];
  connections: number;
  hot: boolean;
  memory: number | null;
}

await using stack = await startBenchStack();
const em = stack.owner();
await em.execute(bareSchema);
const bareIds = (await em.execute<{ id: string }[]>('select id from bare_accounts order by n')).map(({ id }) => id);
const payers = await seedPayers(stack, accountCount);
say(
  `PostgreSQL of its own (${flag('durable') ? 'durable' : 'fsync off'}), ${accountCount} accounts, pools of ${poolSize}, the median of ${rounds} slices of ${sliceSeconds} s, in turns.`,
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

/** One slice of one cell; a cell's first slice warms up and is discarded. */
async function measure(what: Cell['what'], connections: number, hot: boolean): Promise<Slice> {
  if (what === 'a') return runBareTransfer({ databaseUrl, connections, seconds: sliceSeconds, hot, ids: bareIds });
  const { port } = what === 'b' ? bare : api;
  const next = what === 'b' ? nextBare(hot) : nextPayment(hot);
  const { answers, errors, ...figures } = await runLoad({
    port,
    connections,
    status: 201,
    next,
    seconds: sliceSeconds,
  });
  for (const [line, count] of Object.entries(errors)) problems.push(`(${what}) answered ${line}, ${count} times`);
  const good = answers - sum(Object.values(errors));
  if (what === 'b') bareAnswers += good;
  else payments += good;
  return figures;
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const medianOf = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0;
for (const connections of connectionCounts) {
  const slices = new Map<string, Slice[]>();
  const turns = [false, true].flatMap((hot) => whats.map((what) => ({ what, hot, key: `${what} ${hot}` })));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { what, hot, key } of turns) {
      const slice = await measure(what, connections, hot);
      if (round > 0) slices.set(key, [...(slices.get(key) ?? []), slice]);
    }
  }
  for (const { what, hot, key } of turns) {
    const kept = slices.get(key) ?? [];
    cells.push({
      what,
      connections,
      hot,
      perSecond: medianOf(kept.map(({ perSecond }) => perSecond)),
      p50Ms: medianOf(kept.map(({ p50Ms }) => p50Ms)),
      p99Ms: medianOf(kept.map(({ p99Ms }) => p99Ms)),
      memory: what === 'a' ? null : residentMegabytes((what === 'b' ? bare : api).part.pid),
    });
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
await proveSums(stack, payers);
if (problems.length === 0) {
  say(`Sums are right: ${payments} payments acknowledged, each found, nothing else; every check_* view is empty.`);
}
endBench({ problems, bounds: connectionCounts.flatMap(boundsAt) }, say);

function boundsAt(connections: number): Bound[] {
  const limits = leastOfBare[connections];
  if (limits === undefined) return [];
  const cell = must(
    cells.find(({ what, hot, ...rest }) => what === 'c' && !hot && rest.connections === connections),
    'it was measured',
  );
  const bounds = [
    {
      figure: `(c) of (b) at ${connections} connections`,
      value: of('c', connections, false) / of('b', connections, false),
      ...limits,
    },
    {
      figure: `(c) into one hot cause, of its own random figure, at ${connections}`,
      value: of('c', connections, true) / of('c', connections, false),
      least: leastHot,
    },
  ];
  const spread = { figure: 'p99 of (c) of its p50 at 16', value: cell.p99Ms / cell.p50Ms, most: mostSpread };
  return connections === 16 ? [...bounds, spread] : bounds;
}

async function proveSums({ owner }: BenchStack, { accountIds, causeAccountIds, opening, past }: Payers): Promise<void> {
  const fork = owner();
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
