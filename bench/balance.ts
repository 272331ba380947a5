import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareMoney } from '../src/shared/money.ts';
import { accountCount, bareSchema, hasPgbench, runBareTransfer } from './bare-transfer.ts';
import { type Bound, endBench } from './bounds.ts';
import { median, sum } from './figures.ts';
import { httpRequest, type LoadResult, runLoad } from './load.ts';
import { findViolations } from './prove-checks.ts';
import { type Payers, seedPayers } from './seed-payers.ts';
import { argument, type BenchStack, flag, poolSize, startBenchStack } from './stack.ts';
import { printTable } from './table.ts';
import { countCpu, readUsage } from './usage.ts';

/**
 * Compares, in one run on one PostgreSQL: (a) the bare two-account transfer under pgbench, (b) a bare Koa route that
 * verifies a token and calls the same function, (c) our `POST /v1/payments/balance`; at 1, 16 and 64 connections, with
 * random accounts and with everybody paying into one account. All three alternate in short slices, so that they run
 * under the same conditions. Prints ratios; fails on a wrong sum or an error.
 *
 * `--connections N`: only this number of connections. `--keys`: each payment has a new `Idempotency-Key`. `--durable`:
 * commits wait for the disk. `--apis N`: N processes of (b) and N of (c), which share the connections.
 */
const rounds = argument('rounds', 5);
const sliceSeconds = argument('seconds', 1);
/** The pause between slices, so that leftover work of one (connections, vacuum) does not count towards the next. */
const restMs = 500;
const processes = argument('apis', 1);
const isKeyed = flag('keys');
const whats = ['a', 'b', 'c'] as const;
type What = (typeof whats)[number];
const onlyConnections = argument('connections', 0);
const connectionCounts = onlyConnections > 0 ? [onlyConnections] : [1, 16, 64];
type Limits = Omit<Bound, 'figure' | 'value'>;
/** The ratio of (c) to (b), by the number of connections. */
const ofBareAt: Record<number, Limits> = {
  1: { least: 0.2, wanted: 0.3 },
  16: { least: 0.5, wanted: 0.7 },
  64: { least: 0.55, wanted: 0.8 },
};
/** The ratio of (c) into one hot cause to (c) into random causes; at one connection nothing contends. */
const hotOfRandom: Record<number, Limits> = { 16: { least: 0.9 }, 64: { least: 0.9 } };
/** The ratio of p99 to p50. */
const spreadAt: Record<number, Limits> = { 16: { most: 3 } };
const mostMegabytes = 280;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const pick = <T>(items: readonly T[], from = 0): T =>
  items[from + Math.floor(Math.random() * (items.length - from))] as T;

interface Slice extends Omit<LoadResult, 'answers' | 'errors'> {
  /** CPU milliseconds for each answer. */
  cpu: { service: number; postgres: number };
}
interface Cell extends Slice {
  what: What;
  connections: number;
  hot: boolean;
  /** The ratio to (b) in the same rounds. */
  ofBare: number;
  /** For one hot cause: the ratio to random causes in the same rounds. */
  ofRandom: number;
}

await using stack = await startBenchStack();
const em = stack.owner();
await em.execute(bareSchema);
const bareIds = (await em.execute<{ id: string }[]>('select id from bare_accounts order by n')).map(({ id }) => id);
const payers = await seedPayers(stack, accountCount);
say(
  [
    `PostgreSQL of its own (${flag('durable') ? 'durable' : 'fsync off'}), ${accountCount} accounts, pools of ${poolSize}`,
    `${processes} process${processes === 1 ? '' : 'es'} each, ${isKeyed ? 'a key for each payment' : 'without keys'}`,
    `the median of ${rounds} slices of ${sliceSeconds} s, in turns.`,
  ].join('; '),
);
say(hasPgbench() ? '(a) is driven by pgbench.' : '(a) is driven by clients of our own: pgbench is not installed.');

const problems: string[] = [];
const cells: Cell[] = [];
let bareAnswers = 0;
let payments = 0;
const token = payers.tokens[0] as string;
const { databaseUrl, deps } = stack;
type Service = Awaited<ReturnType<BenchStack['startApi']>>;
const services: Record<'b' | 'c', Service[]> = { b: [], c: [] };
for (let started = 0; started < processes; started += 1) {
  const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = deps.config;
  services.b.push(await stack.startBareRoute({ jwks: await deps.tokens.jwks(), issuer, audience }));
  services.c.push(await stack.startApi());
}

const nextBare = (hot: boolean) => () => {
  const source = pick(bareIds, 1);
  let target = hot ? (bareIds[0] as string) : pick(bareIds);
  while (target === source) target = pick(bareIds);
  return httpRequest('POST', '/', token, { source, target, amount: 1 });
};
const nextPayment = (hot: boolean) => () => {
  const payer = Math.floor(Math.random() * accountCount);
  const body = {
    reference_type: 'charitable_cause_donate',
    reference_id: hot ? payers.causeIds[0] : pick(payers.causeIds),
    source_account_id: payers.accountIds[payer],
    amount: 1,
  };
  const headers: Record<string, string> = isKeyed ? { 'Idempotency-Key': randomUUID() } : {};
  return httpRequest('POST', '/v1/payments/balance', payers.tokens[payer] as string, body, headers);
};

/** Measures a slice of a cell; a cell's first slice warms up and is discarded. */
async function measure(what: What, connections: number, hot: boolean): Promise<Slice> {
  if (what === 'a') {
    const bare = await runBareTransfer({ databaseUrl, connections, seconds: sliceSeconds, hot, ids: bareIds });
    return { ...bare, cpu: { service: Number.NaN, postgres: Number.NaN } };
  }
  const named = Object.fromEntries(services[what].map(({ part }, index) => [String(index), part]));
  const used = countCpu({ ...named, postgres: stack.postgres });
  const { answers, errors, ...figures } = await runLoad({
    port: services[what].map(({ port }) => port),
    connections,
    status: 201,
    next: what === 'b' ? nextBare(hot) : nextPayment(hot),
    seconds: sliceSeconds,
  });
  const { postgres, ...ofServices } = used();
  for (const [line, count] of Object.entries(errors)) problems.push(`(${what}) answered ${line}, ${count} times`);
  const good = answers - sum(Object.values(errors));
  if (what === 'b') bareAnswers += good;
  else payments += good;
  return { ...figures, cpu: { service: sum(Object.values(ofServices)) / answers, postgres: postgres / answers } };
}

/** The median ratio of the rates of two series, slice by slice. */
const ratio = (over: readonly Slice[], under: readonly Slice[]): number =>
  median(over.map(({ perSecond }, round) => perSecond / (under[round]?.perSecond ?? Number.NaN)));

for (const connections of connectionCounts) {
  const slices = new Map<string, Slice[]>();
  const of = (what: What, hot: boolean) => slices.get(`${what} ${hot}`) ?? [];
  const turns = [false, true].flatMap((hot) => whats.map((what) => ({ what, hot })));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { what, hot } of turns) {
      await sleep(restMs);
      const slice = await measure(what, connections, hot);
      if (round > 0) slices.set(`${what} ${hot}`, [...of(what, hot), slice]);
    }
  }
  for (const { what, hot } of turns) {
    const kept = of(what, hot);
    const middle = (figure: (slice: Slice) => number) => median(kept.map(figure));
    cells.push({
      what,
      connections,
      hot,
      perSecond: middle(({ perSecond }) => perSecond),
      p50Ms: middle(({ p50Ms }) => p50Ms),
      p99Ms: middle(({ p99Ms }) => p99Ms),
      cpu: { service: middle(({ cpu }) => cpu.service), postgres: middle(({ cpu }) => cpu.postgres) },
      ofBare: ratio(kept, of('b', hot)),
      ofRandom: hot ? ratio(kept, of(what, false)) : Number.NaN,
    });
  }
}

const names = { a: '(a) bare transfer', b: '(b) bare route', c: '(c) POST /v1/payments/balance' };
const shown = (value: number, digits: number) => (Number.isNaN(value) ? '' : value.toFixed(digits));
printTable(
  [
    '',
    'accounts',
    'connections',
    'per second',
    'p50 ms',
    'p99 ms',
    'CPU ms',
    'of PostgreSQL',
    'of (b)',
    'of its random',
  ],
  cells.map((cell) => [
    names[cell.what],
    cell.hot ? 'one hot' : 'random',
    String(cell.connections),
    cell.perSecond.toFixed(0),
    shown(cell.p50Ms, 2),
    shown(cell.p99Ms, 2),
    shown(cell.cpu.service, 2),
    shown(cell.cpu.postgres, 2),
    shown(cell.ofBare, 2),
    shown(cell.ofRandom, 2),
  ]),
);
const most = (what: 'b' | 'c', figure: 'megabytes' | 'peakMegabytes') =>
  Math.max(...services[what].map(({ part }) => readUsage(part)[figure]));
printTable(
  ['a process', 'MB', 'most MB'],
  (['b', 'c'] as const).map((what) => [
    names[what],
    ...(['megabytes', 'peakMegabytes'] as const).map((figure) => shown(most(what, figure), 0)),
  ]),
);
await proveSums(stack, payers);
if (problems.length === 0) {
  say(`Sums are right: exactly the ${payments} acknowledged payments are stored; every check_* view is empty.`);
}
const memory = { figure: 'peak MB of a process of (c)', value: most('c', 'peakMegabytes'), most: mostMegabytes };
endBench({ problems, bounds: [...cells.filter(({ what }) => what === 'c').flatMap(boundsOf), memory] }, say);

function boundsOf({ connections, hot, ofBare, ofRandom, p50Ms, p99Ms }: Cell): Bound[] {
  const bound = (figure: string, value: number, limits: Limits | undefined): Bound[] =>
    limits === undefined ? [] : [{ figure: `${figure}, at ${connections}`, value, ...limits }];
  if (hot) return bound('(c) into one hot cause, of its own random figure', ofRandom, hotOfRandom[connections]);
  return [
    ...bound('(c) of (b)', ofBare, ofBareAt[connections]),
    ...bound('p99 of (c), of its p50', p99Ms / p50Ms, spreadAt[connections]),
  ];
}

async function proveSums({ owner }: BenchStack, { accountIds, causeAccountIds, opening, past }: Payers): Promise<void> {
  const fork = owner();
  const ask = async (sql: string, params: unknown[] = []): Promise<string> =>
    (await fork.execute<{ value: string }[]>(sql, params))[0]?.value ?? '';
  const equal = (name: string, is: string, should: string) => {
    if (compareMoney(is, should) !== 0) problems.push(`${name}: ${is}, expected ${should}`);
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
  problems.push(...(await findViolations(fork)));
}
