import { withTime } from '../src/platform/database/database-time-outs.ts';
import { budgets } from '../src/shared/budgets.ts';
import { newId } from '../src/shared/ids.ts';
import { endBench } from './bounds.ts';
import { httpRequest, runLoad } from './load.ts';
import { argument, type BenchStack, startBenchStack, vacuum } from './stack.ts';
import { printTable } from './table.ts';

/**
 * Measures the cost of a page of transactions with 10,000 rows and with 1,000,000 over the same 1,000 users, side by
 * side: an owner's and the platform's first page with its total, filtered pages, and a page deep in the list by keyset.
 * Prints ratios; fails on a wrong total or page.
 */
const users = 1000;
const sizes = { small: argument('small', 10_000), large: argument('large', 1_000_000) };
const rounds = argument('rounds', 30);
const ownerLimit = 1.5;
const platformLimit = 3;
const deepLimit = 1.2;
const pageSize = 10;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const problems: string[] = [];

interface Shelf {
  rows: number;
  port: number;
  owner: { token: string; total: number; deep: string };
  platform: { token: string; deep: string };
  productId: string;
}

/** The id of the seeded user with this number, as SQL: a version 4 UUID, as tokens name users. */
const userId = (number: string): string =>
  `overlay(overlay(md5('user ' || ${number}) placing '4' from 13) placing '8' from 17)::uuid`;

const kinds = ['investment', 'donation', 'saving_goal', 'account_top_up'];

async function seed(stack: BenchStack, rows: number): Promise<Shelf> {
  const em = stack.owner();
  const platformId = newId();
  const productId = newId();
  await em.execute(
    `insert into users (id, user_type, role_id, status, password_sealed)
     select ${userId('n')}, 'individual', r.id, 'active', 'none'
     from generate_series(0, ${users - 1}) n, roles r where r.name = 'individual_user'
     union all select ?, 'platform', r.id, 'active', 'none'
     from roles r where r.name = 'platform_admin'`,
    [platformId],
  );
  const batch = 100_000;
  for (let from = 0; from < rows; from += batch) {
    await withTime(em, budgets.database.command, async (tx) => {
      // Without triggers and foreign keys, because only reading is measured.
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute(
        `insert into transactions (id, user_id, amount, status, source_account_id, type, reference_type, reference_id,
           batch_id, purpose, created_at)
         select gen_random_uuid(), ${userId(`n % ${users}`)}, 1 + n % 1000, 'successful', gen_random_uuid(),
           case when n % 10 = 0 then 'fee' else 'price' end, (array['${kinds.join("','")}'])[1 + n % ${kinds.length}],
           case when n % 500 = 0 then ?::uuid else gen_random_uuid() end, gen_random_uuid(), 'product_transfer',
           timestamptz '2026-01-01' + n * interval '7 milliseconds'
         from generate_series(?::int, ?::int) n`,
        [productId, from, Math.min(from + batch, rows) - 1],
      );
    });
  }
  await withTime(em, budgets.database.command, async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(
      `insert into transaction_counts select reference_type, type, s, count(*) from
         (select reference_type, type, hashtext(id::text) & 31 as s from transactions) t group by 1, 2, 3`,
    );
  });
  await vacuum(stack.databaseUrl);
  const [owner] = await em.execute<{ id: string; total: string; deep: string; all: string }[]>(
    `select ${userId('7')} as id, (select count(*) from transactions where user_id = ${userId('7')}) as total,
       (select id from transactions where user_id = ${userId('7')} order by created_at limit 1 offset 5) as deep,
       (select id from transactions order by created_at limit 1 offset ${Math.floor(rows / 10)}) as all`,
  );
  if (owner === undefined) throw new Error('there is no owner');
  const { tokens } = stack.deps;
  const tokenOf = async (userId: string, userType: 'individual' | 'platform') =>
    (await tokens.sign({ userId, userType, organizationId: null })).token;
  const { port } = await stack.startApi();
  return {
    rows,
    port,
    productId,
    owner: { token: await tokenOf(owner.id, 'individual'), total: Number(owner.total), deep: owner.deep },
    platform: { token: await tokenOf(platformId, 'platform'), deep: owner.all },
  };
}

interface Question {
  name: string;
  path: (shelf: Shelf) => string;
  token: (shelf: Shelf) => string;
  count?: (shelf: Shelf) => number;
}

const list = '/v1/transactions';
const byOwner = ({ owner }: Shelf) => owner.token;
const byPlatform = ({ platform }: Shelf) => platform.token;
const questions: Question[] = [
  { name: 'owner, first page', path: () => list, token: byOwner, count: ({ owner }) => owner.total },
  { name: 'owner, first page, price only', path: () => `${list}?type=price`, token: byOwner },
  {
    name: 'owner, deep by after',
    path: ({ owner }) => `${list}?limit=5&after=${owner.deep}`,
    token: byOwner,
    count: ({ owner }) => owner.total,
  },
  { name: 'platform, first page', path: () => list, token: byPlatform, count: ({ rows }) => rows },
  {
    name: 'platform, first page, donations',
    path: () => `${list}?reference_type=donation`,
    token: byPlatform,
    count: ({ rows }) => rows / kinds.length,
  },
  {
    name: 'platform, one product',
    path: ({ productId }) => `${list}?product_id=${productId}`,
    token: byPlatform,
    count: ({ rows }) => Math.ceil(rows / 500),
  },
  {
    name: 'platform, deep by after',
    path: ({ platform }) => `${list}?after=${platform.deep}`,
    token: byPlatform,
    count: ({ rows }) => rows,
  },
];

/** The median time of a page in each data set, in alternation, so that both run under the same conditions. */
async function ask({ path, token, count, name }: Question, shelves: readonly Shelf[]): Promise<number[]> {
  const medians = shelves.map((): number[] => []);
  for (let round = 0; round < rounds + 2; round += 1) {
    for (const [index, shelf] of shelves.entries()) {
      const { p50Ms, errors, answers } = await runLoad({
        port: shelf.port,
        connections: 1,
        seconds: 0.15,
        status: 200,
        next: () => httpRequest('GET', path(shelf), token(shelf)),
        onAnswer: (body) => {
          const { data } = JSON.parse(body);
          const wanted = count?.(shelf);
          if (wanted !== undefined && data.count !== wanted)
            problems.push(`${name}: count ${data.count}, not ${wanted}`);
          if (data.transactions.length === 0 || data.transactions.length > pageSize)
            problems.push(`${name}: a wrong page`);
        },
      });
      for (const [line, times] of Object.entries(errors)) problems.push(`${name}: ${line}, ${times} times`);
      if (answers > 0 && round > 1) medians[index]?.push(p50Ms);
    }
  }
  return medians.map((found) => found.toSorted((left, right) => left - right)[Math.floor(found.length / 2)] ?? 0);
}

await using small = await startBenchStack();
await using large = await startBenchStack();
say(`Seeding ${sizes.small} and ${sizes.large} transactions over ${users} users.`);
const shelves = [await seed(small, sizes.small), await seed(large, sizes.large)];
const figures = new Map<string, number[]>();
for (const question of questions) figures.set(question.name, await ask(question, shelves));
const ratio = (name: string): number => {
  const [few = 0, many = 0] = figures.get(name) ?? [];
  return many / few;
};
printTable(
  ['', `${sizes.small} rows, ms`, `${sizes.large} rows, ms`, 'ratio'],
  [...figures].map(([name, [few = 0, many = 0]]) => [name, few.toFixed(2), many.toFixed(2), ratio(name).toFixed(2)]),
);
const of = (name: string) => figures.get(name)?.[1] ?? 0;
const deepShare = (who: string) => of(`${who}, deep by after`) / of(`${who}, first page`);
const bounds = [
  { figure: "an owner's first page, ratio of large to small", value: ratio('owner, first page'), most: ownerLimit },
  {
    figure: "the platform's first page, ratio of large to small",
    value: ratio('platform, first page'),
    most: platformLimit,
  },
  { figure: "the platform's deep page, ratio to its first", value: deepShare('platform'), most: deepLimit },
  { figure: "an owner's deep page, ratio to the first", value: deepShare('owner'), most: deepLimit },
];
endBench({ problems, bounds }, say);
