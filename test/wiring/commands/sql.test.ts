import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { statementsOf, transactionWords } from '../../../src/wiring/commands/statements.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { casesOf } from '../../support/full.ts';

const root = join(import.meta.dirname, '..', '..', '..');
let database: TestDatabase;
let owner: pg.Client;
beforeAll(async () => {
  database = await cloneDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query("insert into sweep_looks values ('payout', uuidv7(), 1, now())");
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

/** Runs `npm run sql` as the application's role, which may write. */
const ask = (text: string, env: Record<string, string> = {}, options = ['--json']) =>
  spawnSync(process.execPath, ['src/wiring/commands/sql.ts', ...options], {
    cwd: root,
    encoding: 'utf8',
    input: text,
    env: { PATH: process.env.PATH, DATABASE_URL: database.url, ...env },
  });
const kept = async () => (await owner.query('select from sweep_looks')).rowCount;

describe('npm run sql', () => {
  it('npm run sql rejects a malformed URL, even of a database that it does not use', () => {
    const { stderr, status } = ask('select 1', { KEYS_DATABASE_URL: `${database.url}?sslmode=bogus` });
    expect(stderr).toContain('KEYS_DATABASE_URL is malformed: sslmode=bogus');
    expect(status).toBe(2);
  });

  it('npm run sql returns the result of each statement, whatever its strings and comments contain', () => {
    const { stdout, stderr, status } = ask(
      `select 'a; commit' as one; -- ; commit
       select case when true then $x$;end$x$ end as two /* ; /* ; */ commit; */;
       select E'\\';begin' as "three; rollback";`,
    );
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(
      stdout
        .trim()
        .split('\n\n')
        .map((answer) => JSON.parse(answer)),
    ).toEqual([[{ one: 'a; commit' }], [{ two: ';end' }], [{ 'three; rollback': "';begin" }]]);
  });

  it('npm run sql shows columns of the same name, each with its own value', () => {
    const { stdout, stderr } = ask('select min(n), max(n), min(n + 40) from (values (1), (2)) as one (n)', {}, []);
    expect({ stderr, lines: stdout.trim().split('\n') }).toEqual({
      stderr: '',
      lines: ['min  max  min', '---  ---  ---', '1    2    41', '(1 row)'],
    });
  });

  it('npm run sql writes nothing, with or without a commit', async () => {
    const texts = [
      ['delete from sweep_looks', 'cannot execute DELETE in a read-only transaction'],
      ['select 1; commit; delete from sweep_looks', '"commit" is refused'],
      ['set transaction read write; delete from sweep_looks; /* /* */ */ COMMIT', '"commit" is refused'],
      // Read as one string here, and as two statements by the server.
      ["select E'a'\n'\\\\\\''; commit; delete from sweep_looks; select '1'", 'multiple commands'],
    ] as const;
    for (const [text, complaint] of casesOf<(typeof texts)[number]>(texts, (_, index) => index !== 2)) {
      const { stderr, status } = ask(text);
      expect([text, stderr, status]).toEqual([text, expect.stringContaining(complaint), 2]);
    }
    expect(await kept()).toBe(1);
  });
});

describe('Splitting statements', () => {
  it('A statement ends at a semicolon outside quotes and comments', () => {
    expect(statementsOf(` ;-- nothing;\n;/* ; */`)).toEqual([]);
    expect(statementsOf(`select ';', ";", $$;$$, $a$;$$;$a$, e'\\';', 'it''s;' ; select 2`)).toEqual([
      `select ';', ";", $$;$$, $a$;$$;$a$, e'\\';', 'it''s;' `,
      ' select 2',
    ]);
  });

  it('A statement that begins, ends or prepares a transaction is recognized by its first words', () => {
    for (const text of [
      'commit and chain',
      '-- why\n End',
      '/* a /* b */ c */rollback',
      'ABORT',
      'begin read write',
      'start  transaction',
      "prepare /**/ transaction '1'",
    ]) {
      expect([text, transactionWords(text)]).toEqual([text, expect.any(String)]);
    }
    for (const text of ['select 1 as commit', 'prepare one as select 1', 'committed', '"commit"', 'explain select 1']) {
      expect([text, transactionWords(text)]).toEqual([text, null]);
    }
  });
});
