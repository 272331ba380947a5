import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { type Part, startPart } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { runChecks } from '../../src/ledger/run-checks.ts';
import { newId } from '../../src/shared/ids.ts';
import { addMoney, subtractMoney } from '../../src/shared/money.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { cloneDatabase, letOwnerWait, type TestDatabase } from '../support/database.ts';
import { plantJournal } from '../support/plant-journal.ts';
import { isFullRun, testRun } from '../support/run.ts';
import { eventually } from '../support/stack.ts';
import type { CellOptions } from './cell.ts';
import type { Transfer } from './transfer.ts';

/*
 * Simulates two cells on one machine. Each has a database on the shared PostgreSQL server (the shipped schema and
 * cells.sql), a Temporal server, and one process, cell.ts, which connects as the owner; nothing else of the product
 * runs. The cell processes, but not PostgreSQL and Temporal, are killed at failpoints and from outside while money
 * moves both ways. The sum is checked whenever both processes are stopped.
 */

const transfers = isFullRun() ? 120 : 24;
const deathChance = 0.02;
const accountsOfCell = 4;
const funded = '1000000.0000';

interface Cell {
  name: string;
  database: TestDatabase;
  orm: MikroORM;
  port: number;
  temporal: Part;
  temporalAddress: string;
  client: Client;
  taskQueue: string;
  accounts: string[];
  process: Part | undefined;
  /** Resolves once the starting process runs or has failed to start. */
  starting: Promise<Part | undefined> | undefined;
  deaths: number;
  ends: boolean;
  supervised: Promise<void>;
}

let west: Cell;
let east: Cell;
let workflowBundle: string;
const both = (): Cell[] => [west, east];
const ownerOf = ({ orm }: Cell): EntityManager => orm.em.fork();

beforeAll(async () => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, 'workflows.ts'),
    logger: quiet,
  });
  const directory = join(testRun().directory, 'cells');
  mkdirSync(directory, { recursive: true });
  workflowBundle = join(directory, 'workflows.js');
  writeFileSync(workflowBundle, code);
  [west, east] = [await buildCell('west'), await buildCell('east')];
}, 240_000);
afterAll(async () => {
  for (const cell of both()) {
    await stop(cell);
    await cell.orm.close(true);
    await cell.database.drop();
    await cell.client.connection.close();
    await cell.temporal.stop();
  }
});

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

async function buildCell(name: string): Promise<Cell> {
  const database = await cloneDatabase();
  await letOwnerWait(database);
  const orm = await openDatabase({ url: database.ownerUrl, poolSize: 4, connectWithinMs: 30_000 });
  await orm.em.fork().execute(readFileSync(join(import.meta.dirname, 'cells.sql'), 'utf8'));
  const accounts = Array.from({ length: accountsOfCell }, () => newId());
  for (const id of accounts) {
    await orm.em.fork().execute("insert into accounts (id, name, kind) values (?, 'A person', 'user')", [id]);
    await plantJournal(orm.em.fork(), {
      kind: 'opening_balance',
      businessKey: `opening/${id}`,
      postings: [
        { accountId: systemAccounts.gatewayClearing, amount: `-${funded}` },
        { accountId: id, amount: funded },
      ],
    });
  }
  const temporalPort = await findFreePort();
  const temporal = await startTemporal(
    { binary: testRun().temporal.binary, port: temporalPort },
    { logFile: join(testRun().directory, 'cells', `temporal-${name}.log`) },
  );
  const temporalAddress = `127.0.0.1:${temporalPort}`;
  return {
    name,
    database,
    orm,
    accounts,
    temporal,
    temporalAddress,
    client: new Client({ connection: await Connection.connect({ address: temporalAddress }) }),
    port: await findFreePort(),
    taskQueue: `cell-${name}`,
    process: undefined,
    starting: undefined,
    deaths: 0,
    ends: true,
    supervised: Promise.resolve(),
  };
}

/** Delays the start of processes until it resolves. */
let mayStart = Promise.resolve();

/** Runs a cell's process and restarts it whenever it dies, as a supervisor does. */
function start(cell: Cell, other: Cell, chance: number): void {
  const options: CellOptions = {
    databaseUrl: cell.database.ownerUrl,
    port: cell.port,
    otherUrl: `http://127.0.0.1:${other.port}`,
    temporalAddress: cell.temporalAddress,
    taskQueue: cell.taskQueue,
    workflowBundle,
    deathChance: chance,
  };
  cell.ends = false;
  cell.supervised = (async () => {
    while (!cell.ends) {
      for (let gate: unknown; gate !== mayStart; await gate) gate = mayStart;
      cell.starting = startPart({
        name: `The cell ${cell.name}`,
        script: join(import.meta.dirname, 'cell.ts'),
        env: { PATH: process.env.PATH, HOME: process.env.HOME },
        options,
        logFile: join(testRun().directory, 'cells', `${cell.name}.log`),
        readyWithinMs: 120_000,
      }).catch(() => undefined);
      const part = await cell.starting;
      if (part === undefined) continue;
      cell.process = part;
      if (cell.ends) part.kill('SIGKILL');
      const { signal } = await part.exited;
      cell.process = undefined;
      if (signal === 'SIGKILL' && !cell.ends) cell.deaths += 1;
    }
  })();
}

async function stop(cell: Cell): Promise<void> {
  cell.ends = true;
  cell.process?.kill('SIGKILL');
  await cell.supervised;
}

const amountOf = (index: number): string => `${index + 1}.2500`;
const unknownAccount = newId();

async function order(cell: Cell, transfer: Transfer): Promise<void> {
  await cell.client.workflow.start('transferBetweenCells', {
    workflowId: `cell-transfer/${transfer.id}`,
    taskQueue: cell.taskQueue,
    workflowTaskTimeout: '2s',
    args: [transfer],
  });
}

interface Row {
  id: string;
  status: string;
  amount: string;
}
const sent = (cell: Cell): Promise<Row[]> =>
  ownerOf(cell).execute<Row[]>('select id, status, amount::text from cell_transfers');
const verdicts = async (cell: Cell): Promise<Map<string, string>> => {
  const rows = await ownerOf(cell).execute<{ transfer_id: string; verdict: string }[]>(
    'select transfer_id, verdict from cell_verdicts',
  );
  return new Map(rows.map(({ transfer_id, verdict }) => [transfer_id, verdict]));
};
const held = async (cell: Cell): Promise<string> => {
  const [{ sum }] = await ownerOf(cell).execute<[{ sum: string }]>(
    "select sum(account_balance(id))::numeric(20, 4)::text as sum from accounts where kind = 'user'",
  );
  return sum;
};

/** Runs work while both processes are stopped and their statements have completed. */
async function whileStill<T>(work: () => Promise<T>): Promise<T> {
  const { promise, resolve: letStart } = Promise.withResolvers<void>();
  mayStart = promise;
  await Promise.all(both().map(({ starting }) => starting));
  const stilled = both().flatMap(({ process }) => process ?? []);
  for (const part of stilled) part.kill('SIGSTOP');
  try {
    for (const cell of both()) {
      let looks = 0;
      await eventually(
        async () => {
          const [{ busy }] = await ownerOf(cell).execute<[{ busy: number }]>(
            `select count(*)::int as busy from pg_stat_activity
             where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
          );
          looks = busy === 0 ? looks + 1 : 0;
          return looks;
        },
        (count) => count >= 3,
      );
    }
    return await work();
  } finally {
    for (const part of stilled) part.kill('SIGCONT');
    letStart();
  }
}

/** Expects all balances plus money in transit to be constant. */
async function expectTheSum(): Promise<void> {
  const ofWest = await verdicts(west);
  const ofEast = await verdicts(east);
  let sum = addMoney(await held(west), await held(east));
  for (const [cell, there] of [
    [west, ofEast],
    [east, ofWest],
  ] as const) {
    for (const { id, status, amount } of await sent(cell)) {
      const verdict = there.get(id);
      if (status === 'arrived') expect([id, verdict]).toEqual([id, 'accepted']);
      if (status === 'taken_back') expect([id, verdict]).toEqual([id, 'refused']);
      if (status === 'open' && verdict !== 'accepted') sum = addMoney(sum, amount);
    }
  }
  const total = 2 * accountsOfCell * Number.parseInt(funded, 10);
  expect(sum).toBe(`${total}.0000`);
}

async function expectBooksInOrder(): Promise<void> {
  for (const cell of both()) {
    const wrong = (await runChecks(ownerOf(cell))).filter(({ violations }) => violations > 0);
    expect([cell.name, wrong]).toEqual([cell.name, []]);
  }
}

describe('Money between two cells', () => {
  it('Money sent between two cells is neither lost nor duplicated, whichever cell is killed', async () => {
    start(west, east, deathChance);
    start(east, west, deathChance);
    const expected = new Map<string, string>([...west.accounts, ...east.accounts].map((id) => [id, funded]));
    const moved = (id: string, amount: string, add: boolean) => {
      const before = expected.get(id) ?? '0.0000';
      expected.set(id, add ? addMoney(before, amount) : subtractMoney(before, amount));
    };
    for (let index = 0; index < transfers; index += 1) {
      const [from, to] = index % 2 === 0 ? [west, east] : [east, west];
      const amount = amountOf(index);
      const fromAccountId = from.accounts[index % accountsOfCell] ?? '';
      const arrives = index % 5 !== 0;
      const toAccountId = arrives ? (to.accounts[(index >> 1) % accountsOfCell] ?? '') : unknownAccount;
      await order(from, { id: newId(), fromAccountId, toAccountId, amount });
      if (!arrives) continue;
      moved(fromAccountId, amount, false);
      moved(toAccountId, amount, true);
    }
    const concluded = async () =>
      (await Promise.all(both().map(sent))).flat().filter(({ status }) => status !== 'open').length;
    for (let done = 0, round = 0; done < transfers; round += 1) {
      const victims = [[west], [east], [west, east]][round % 3] ?? [];
      for (const { process } of victims) process?.kill('SIGKILL');
      await whileStill(expectTheSum);
      const further = Math.min(transfers, done + Math.ceil(transfers / 15));
      done = await eventually(concluded, (count) => count >= further, 300_000);
    }
    await expectTheSum();
    await expectBooksInOrder();
    for (const cell of both()) {
      expect(cell.deaths).toBeGreaterThan(0);
      expect((await sent(cell)).length).toBe(transfers / 2);
      for (const id of cell.accounts) {
        const [{ balance }] = await ownerOf(cell).execute<[{ balance: string }]>(
          'select account_balance(?)::numeric(20, 4)::text as balance',
          [id],
        );
        expect([id, balance]).toEqual([id, expected.get(id)]);
      }
    }
    await Promise.all(both().map(stop));
  }, 1_800_000);

  it('Money sent to an unresponsive cell stays in transit and is not reversed', async () => {
    const transfer = {
      id: newId(),
      fromAccountId: west.accounts[0] ?? '',
      toAccountId: east.accounts[0] ?? '',
      amount: '7.0000',
    };
    start(west, east, 0);
    // Accepts connections and never answers.
    const silent = createServer((socket) => socket.on('error', () => undefined));
    silent.listen(east.port, '127.0.0.1');
    await once(silent, 'listening');
    await order(west, transfer);
    const handle = west.client.workflow.getHandle(`cell-transfer/${transfer.id}`);
    await eventually(
      async () => (await handle.describe()).raw.pendingActivities?.[0]?.attempt ?? 0,
      (attempt) => attempt >= 3,
      120_000,
    );
    const own = async () => (await sent(west)).find(({ id }) => id === transfer.id)?.status;
    expect(await own()).toBe('open');
    await expectTheSum();
    await expectBooksInOrder();
    silent.close();
    await stop(west);
    start(west, east, 0);
    start(east, west, 0);
    expect(await handle.result()).toBe('accepted');
    expect(await own()).toBe('arrived');
    await expectTheSum();
    await Promise.all(both().map(stop));
  }, 300_000);

  it('A refused transfer between cells stays refused on every retry, whatever has changed since', async () => {
    const [id, account] = [newId(), newId()];
    const judge = async () =>
      (
        await ownerOf(east).execute<[{ verdict: string }]>('select judge_transfer(?, ?, 5) as verdict', [id, account])
      )[0].verdict;
    expect(await judge()).toBe('refused');
    await ownerOf(east).execute("insert into accounts (id, name, kind) values (?, 'Opened since', 'user')", [account]);
    expect(await Promise.all([judge(), judge(), judge()])).toEqual(['refused', 'refused', 'refused']);
    const change = ownerOf(east).execute("update cell_verdicts set verdict = 'accepted' where transfer_id = ?", [id]);
    await expect(change).rejects.toMatchObject({ code: 'AM003' });
    await expectBooksInOrder();
  });

  it('The in-transit check finds a reversed transfer whose money was not returned', async () => {
    const em = ownerOf(west);
    await em.begin();
    await em.execute('select send_transfer(?, ?, ?, 3)', [newId(), west.accounts[0], unknownAccount]);
    await em.execute("update cell_transfers set status = 'taken_back' where status = 'open'");
    expect(await em.execute('select held::text, open::text from check_in_transit_equals_open_transfers')).toEqual([
      { held: '3.0000', open: '0' },
    ]);
    await em.rollback();
  });
});
