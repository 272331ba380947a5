import type { EntityManager } from '@mikro-orm/postgresql';
import fc from 'fast-check';
import { describeJournals, hashJournals, sealedTables } from '../../../src/ledger/seals/describe-journals.ts';
import { type Cell, rowText } from '../../../src/ledger/seals/seal.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildTransaction } from '../../support/documents.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let journal: string;
beforeAll(async () => {
  stack = await startStack();
  const transaction = await buildTransaction(stack, await buildIndividual(stack));
  const [row] = await stack
    .owner()
    .execute<[{ batch_id: string }]>('select batch_id from transactions where id = ?', [transaction]);
  journal = row.batch_id;
}, 60_000);
afterAll(() => stack.stop());

/** Runs work without triggers in a transaction that is rolled back. */
async function undone<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
  const em = stack.owner();
  await em.begin();
  try {
    await em.execute("set local session_replication_role = 'replica'");
    return await work(em);
  } finally {
    await em.rollback();
  }
}

async function hashOf(tx: EntityManager): Promise<string> {
  for await (const { hash } of hashJournals(tx, [journal])) return hash;
  throw new Error('there is one journal');
}

/** Texts with every character that could terminate a cell, a row or a text. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  fc.string({
    unit: fc.constantFrom('"', '\\', ',', '\n', '\r', '[', ']', '{', '}', ' ', "'", '\u2028', 'null', 'NULL', 'a'),
  }),
);
const cell = fc.option(nasty, { nil: null });
const rows = fc.array(fc.tuple(fc.constantFrom(...Object.keys(sealedTables)), fc.array(cell, { maxLength: 4 })), {
  maxLength: 4,
});
type Rows = [table: string, cells: Cell[]][];
const textOf = (some: Rows): string => some.map(([table, cells]) => rowText(table, cells)).join('');

describe('The canonical text', () => {
  it('The canonical text can be parsed back, so it differs for different sets of rows', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const lines = textOf(some).split('\n').slice(0, -1);
        const read = lines
          .map((line) => JSON.parse(line) as [string, ...Cell[]])
          .map(([table, ...cells]) => [table, cells]);
        expect(read).toEqual(some);
      }),
    );
  });

  it('The canonical text differs if and only if the rows differ', () => {
    fc.assert(
      fc.property(rows, rows, (some, others) => {
        expect(textOf(some) === textOf(others)).toBe(JSON.stringify(some) === JSON.stringify(others));
      }),
    );
    expect(textOf([['journals', ['a', 'b']]])).not.toBe(textOf([['journals', ['a","b']]]));
    expect(textOf([['journals', [null]]])).not.toBe(textOf([['journals', ['']]]));
    expect(textOf([['journals', [null]]])).not.toBe(textOf([['journals', ['null']]]));
  });

  it('The canonical text holds any text of a row, as the database returns it', async () => {
    await fc.assert(
      fc.asyncProperty(
        nasty.map((text) => text.replaceAll('\0', '')),
        (key) =>
          undone(async (tx) => {
            await tx.execute('update journals set business_key = ? where id = ?', [key, journal]);
            const text = must((await describeJournals(tx, [journal])).get(journal), 'the journal has a text');
            expect(JSON.parse(text.split('\n')[0] ?? '')[2]).toBe(key);
          }),
      ),
      { numRuns: 50 },
    );
  }, 60_000);

  it.each([
    "set local time zone 'Asia/Jakarta'",
    "set local time zone 'America/St_Johns'",
    "set local datestyle = 'German'",
    "set local datestyle = 'SQL, DMY'",
    "set local intervalstyle = 'iso_8601'",
    'set local extra_float_digits = -15',
    "set local lc_numeric = 'C'",
    "set local bytea_output = 'escape'",
  ])('The canonical text does not depend on the connection: %s', async (setting) => {
    const usual = await hashOf(stack.owner());
    expect(await undone((tx) => tx.execute(setting).then(() => hashOf(tx)))).toBe(usual);
  });

  it('The canonical text does not depend on the trailing zeros of a numeric', async () => {
    const usual = await hashOf(stack.owner());
    const wider = (tx: EntityManager) =>
      tx.execute(
        'create temporary table postings on commit drop as select id, journal_id, account_id, amount::numeric(30, 9) as amount, created_at from public.postings',
      );
    expect(await undone((tx) => wider(tx).then(() => hashOf(tx)))).toBe(usual);
    const tiny = `update postings set amount = amount + 0.000000001 where journal_id = '${journal}'`;
    const grown = await undone(async (tx) => {
      await wider(tx);
      await tx.execute(tiny);
      return hashOf(tx);
    });
    expect(grown).not.toBe(usual);
  });

  it.each([
    "'infinity'",
    "'-infinity'",
    "'0044-03-15 00:00:00+00 BC'",
    "'0044-03-15 00:00:00+00'",
    "'294276-12-31 23:59:59.999999+00'",
  ])('The canonical text of the instant %s differs from those of other instants', async (instant) => {
    const textOfJournal = (created: string) =>
      undone(async (tx) => {
        // The table's owner can drop the constraint that excludes such instants.
        await tx.execute('alter table journals drop constraint journals_created_at_is_real');
        await tx.execute(`update journals set created_at = ${created} where id = '${journal}'`);
        return (await describeJournals(tx, [journal])).get(journal)?.split('\n')[0];
      });
    const text = await textOfJournal(instant);
    const others = ["'infinity'", "'-infinity'", "'0044-03-15 00:00:00+00 BC'", "'0044-03-15 00:00:00+00'"].filter(
      (other) => other !== instant,
    );
    for (const other of others) {
      const different = await textOfJournal(other);
      expect(different).not.toBe(text);
    }
  });

  it('The canonical text has every column of the three tables', async () => {
    const columns = await stack.owner().execute<{ table_name: string; column_name: string }[]>(
      `select table_name, column_name from information_schema.columns
       where table_schema = current_schema() and table_name = any(?::text[])`,
      [`{${Object.keys(sealedTables).join(',')}}`],
    );
    const there = columns.map(({ table_name, column_name }) => `${table_name}.${column_name}`);
    const sealed = Object.entries(sealedTables).flatMap(([table, { columns: named }]) =>
      Object.keys(named).map((column) => `${table}.${column}`),
    );
    expect(there.toSorted()).toEqual(sealed.toSorted());
  });

  it('The canonical text has one line for the journal, each posting and each transaction', async () => {
    const [id, account, user, posting] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
    const texts = await undone(async (tx) => {
      await tx.execute(
        `insert into journals values ('${id}', 'a "key"', 'test', '2026-01-02 03:04:05.6+07');
         insert into postings overriding system value values (1000002, '${id}', '${account}', 10, '2026-01-02 03:04:05+00'),
           (1000001, '${id}', '${user}', -10.50, '2026-01-02 03:04:05+00');
         insert into transactions values ('${posting}', '${user}', null, 1234567890123456.7800, 'successful', '2026-01-02',
           '${account}', null, 'price', 'donation', '${id}', '${id}', 'topup_pocket', null, null, null, null,
           '2026-01-02 00:00:00.000001+00', '2026-01-02')`,
      );
      return describeJournals(tx, [must(id, 'an id')]);
    });
    expect(texts.get(must(id, 'an id'))).toBe(
      `["journals","${id}","a \\"key\\"","test","2026-01-01T20:04:05.6Z"]\n` +
        `["postings","1000001","${id}","${user}","-10.5","2026-01-02T03:04:05Z"]\n` +
        `["postings","1000002","${id}","${account}","10","2026-01-02T03:04:05Z"]\n` +
        `["transactions","${posting}","${user}",null,"1234567890123456.78","successful","2026-01-02T00:00:00Z",` +
        `"${account}",null,"price","donation","${id}","${id}","topup_pocket",null,null,null,null,` +
        `"2026-01-02T00:00:00.000001Z","2026-01-02T00:00:00Z"]\n`,
    );
  });

  it('The canonical text of a missing journal is empty', async () => {
    const id = newId();
    expect(await describeJournals(stack.owner(), [id])).toEqual(new Map([[id, '']]));
  });
});
