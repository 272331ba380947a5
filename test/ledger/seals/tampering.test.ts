import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { sealedTables } from '../../../src/ledger/seals/describe-journals.ts';
import { hashOfSeal, type SealStatement, sealKey } from '../../../src/ledger/seals/seal.ts';
import { createSealKeys } from '../../../src/ledger/seals/seal-keys.ts';
import type { SealDifference } from '../../../src/ledger/seals/seal-objects.ts';
import { must } from '../../../src/shared/assert.ts';
import { sha256 } from '../../../src/shared/digest.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildTransaction } from '../../support/documents.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { expectIntact, postMany, sealAll, sealOf, verify } from './build-seals.ts';

const tables = [
  'accounts',
  'journal_keys',
  'journals',
  'postings',
  'transactions',
  'account_balances',
  'seals',
  'seal_journals',
] as const;

let stack: Stack;
let victim: string;
let last: string;
beforeAll(async () => {
  stack = await startStack({ own: true, isImpatient: true, env: { LOG_LEVEL: 'silent' } });
  const user = await buildIndividual(stack);
  const transaction = await buildTransaction(stack, user);
  const rows = await stack
    .owner()
    .execute<[{ batch_id: string }]>('select batch_id from transactions where id = ?', [transaction]);
  victim = rows[0].batch_id;
  await postMany(stack, 2);
  await sealAll(stack, { size: 10 });
  await postMany(stack, 3);
  await sealAll(stack, { size: 10 });
  last = must((await postMany(stack, 1))[0], 'one was posted');
  await sealAll(stack, { size: 10 });
  for (const table of tables) await stack.owner().execute(`create table kept_${table} as table ${table}`);
}, 60_000);
afterAll(() => stack.stop());
beforeEach(async () => {
  await expectIntact(stack);
});

/** Runs statements as a superuser who has disabled the triggers. */
const tamper = (...sql: string[]) =>
  stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    for (const statement of sql) await tx.execute(statement);
  });

/** Restores the original rows. */
async function restore(): Promise<void> {
  const columns = await stack.owner().execute<{ table_name: string; columns: string }[]>(
    `select table_name, string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     where table_schema = current_schema() and is_generated = 'NEVER' and table_name = any(?::text[]) group by 1`,
    [`{${tables.join(',')}}`],
  );
  await tamper(
    ...columns.flatMap(({ table_name: table, columns: list }) => [
      `delete from ${table}`,
      `insert into ${table} (${list}) overriding system value select ${list} from kept_${table}`,
    ]),
  );
}
afterEach(restore);

const seal = async (number: number): Promise<{ hash: string; jws: string; key: string; statement: SealStatement }> => {
  const [row] = await stack
    .owner()
    .execute<[{ hash: string; jws: string }]>('select hash, jws from kept_seals where number = ?', [number]);
  const { statement } = await stack.deps.sealKeys.open(row.jws);
  const said = must(statement, 'it can be read');
  return { ...row, statement: said, key: sealKey(said, row.hash) };
};
const put = (key: string, text: string) => {
  const bytes = Buffer.from(text);
  const object = { contentType: 'text/plain', sizeBytes: bytes.length, sha256: sha256(bytes) };
  return stack.deps.storage.put(key, object, Readable.from([bytes], { objectMode: false }));
};
const textOf = async (key: string) => String(await stack.deps.storage.read(key, 10_000_000));
const differences = async (): Promise<SealDifference[]> => {
  const { sample, differences: count } = await verify(stack);
  expect(sample).toHaveLength(count);
  return sample;
};
const ofJournal = (what: string, journal = victim, number = 1) => [{ seal: number, journal, what }];
const aboutSeal = (what: string, number = 2) => ({ seal: number, journal: null, what });
const ofSeal = (what: string, number = 2) => [aboutSeal(what, number)];

const changed = 'is not what was sealed';
const changes: [what: string, sql: () => string[]][] = [
  [
    'a changed amount, with its counter-posting',
    () => [`update postings set amount = amount * 2 where journal_id = '${victim}'`],
  ],
  [
    'an amount changed by less than a cent',
    () => [`update postings set amount = amount + sign(amount) * 0.0001 where journal_id = '${victim}'`],
  ],
  [
    'a changed account of a posting',
    () => [`update postings set account_id = '${newId()}' where journal_id = '${victim}' and amount > 0`],
  ],
  ['a deleted posting', () => [`delete from postings where journal_id = '${victim}' and amount > 0`]],
  [
    'an added pair of postings',
    () => [
      `insert into postings (journal_id, account_id, amount) select journal_id, account_id, amount from postings where journal_id = '${victim}'`,
    ],
  ],
  [
    "a journal's changed date",
    () => [`update journals set created_at = created_at - interval '1 microsecond' where id = '${victim}'`],
  ],
  [
    "a posting's changed date",
    () => [`update postings set created_at = created_at + interval '1 day' where journal_id = '${victim}'`],
  ],
  ['a changed business key', () => [`update journals set business_key = business_key || ' ' where id = '${victim}'`]],
  ['a changed amount of a transaction', () => [`update transactions set amount = 2 where batch_id = '${victim}'`]],
  [
    'a changed owner of a transaction',
    () => [`update transactions set user_id = '${newId()}' where batch_id = '${victim}'`],
  ],
  [
    'an invented change of a transaction',
    () => [`update transactions set updated_by = created_by where batch_id = '${victim}'`],
  ],
  ['a deleted transaction', () => [`delete from transactions where batch_id = '${victim}'`]],
  [
    'an added transaction',
    () => [
      `create temporary table twin on commit drop as select * from transactions where batch_id = '${victim}'`,
      `update twin set id = '${newId()}'`,
      'insert into transactions select * from twin',
    ],
  ],
];

describe('Verification of sealed journals', () => {
  // A sample: the test below changes every column.
  const standing = casesOf(changes, (_, index) => index % 3 === 0 || index >= 11);
  it.each(standing)('Verify reports %s', async (_, sql) => {
    await tamper(...sql());
    expect(await differences()).toEqual(ofJournal(changed));
  });

  const columnsSealed = Object.entries(sealedTables).flatMap(([table, { columns, journal }]) =>
    Object.entries(columns)
      // Not the journal's id, which makes it another journal.
      .filter(([column]) => column !== journal)
      .map(([column, kind]) => [table, column, kind, journal] as const),
  );
  // canonical.test.ts shows that the text omits none.
  const changedColumns = casesOf(columnsSealed, ([table], index) => table !== 'transactions' || index % 4 === 0);
  it.each(changedColumns)(
    'Verify reports a change of %s.%s in a sealed journal',
    async (table, column, kind, journal) => {
      const other = {
        id: column === 'id' && table === 'postings' ? 'default' : `'${newId()}'`,
        text: `${column} || 'x'`,
        number: `${column} * 3`,
        instant: `${column} + interval '1 second'`,
      }[kind];
      await tamper(
        // Drops checks of values, which an attacker who can disable triggers can drop too.
        ...['status', 'type', 'reference_type', 'purpose'].map(
          (name) => `alter table transactions drop constraint if exists transactions_${name}_check`,
        ),
        `update ${table} set ${column} = ${other} where ${journal} = '${victim}'`,
      );
      expect(await differences()).toEqual(ofJournal(changed));
    },
  );

  it('Verify reports a sealed journal deleted with everything that belongs to it', async () => {
    await tamper(
      `delete from postings where journal_id = '${victim}'`,
      `delete from transactions where batch_id = '${victim}'`,
      `delete from journals where id = '${victim}'`,
    );
    expect(await differences()).toEqual(ofJournal('was sealed, and is gone'));
  });

  it('Verify reports each of two changed journals in different seals', async () => {
    await tamper(
      `update postings set amount = amount * 10 where journal_id = '${victim}'`,
      `update journals set created_at = now() where id = '${last}'`,
    );
    expect(await differences()).toEqual([...ofJournal(changed), ...ofJournal(changed, last, 3)]);
  });
});

describe('Verification of a seal’s contents', () => {
  it('Verify reports a journal removed from its seal to be sealed again', async () => {
    await tamper(
      `delete from seal_journals where journal_id = '${victim}'`,
      `update postings set amount = amount * 2 where journal_id = '${victim}'`,
    );
    await sealAll(stack);
    expect(await sealOf(stack, victim)).toBe(4);
    expect(await differences()).toEqual(ofJournal('was sealed, and is not among the journals of the seal'));
    await stack.deps.storage.remove((await seal4()).key);
  });

  it('Verify reports a journal moved to another seal', async () => {
    await tamper(`update seal_journals set seal_number = 2 where journal_id = '${victim}'`);
    expect(await differences()).toEqual([
      ...ofJournal('was sealed, and is not among the journals of the seal'),
      ...ofJournal('was not sealed, and is among the journals of the seal', victim, 2),
    ]);
  });

  it('Verify reports a journal inserted into a seal', async () => {
    const [journal = ''] = await postMany(stack, 1);
    await tamper(`insert into seal_journals values ('${journal}', 2)`);
    expect(await differences()).toEqual(ofJournal('was not sealed, and is among the journals of the seal', journal, 2));
  });

  it('Verify reports journals of a missing seal', async () => {
    await tamper('update seal_journals set seal_number = 77 where seal_number = 3');
    expect(await differences()).toContainEqual({
      seal: null,
      journal: null,
      what: '1 journals are in seal 77, which has no row',
    });
  });
});

const seal4 = async () => {
  const [row] = await stack
    .owner()
    .execute<[{ hash: string; jws: string }]>('select hash, jws from seals where number = 4');
  const { statement } = await stack.deps.sealKeys.open(row.jws);
  return { key: sealKey(must(statement, 'it can be read'), row.hash) };
};

describe('Verification of the chain', () => {
  it('Verify reports a deleted seal that its object still shows', async () => {
    const { hash } = await seal(2);
    await tamper('delete from seals where number = 2');
    expect(await differences()).toEqual([
      ...ofSeal('its row is gone'),
      ...ofSeal(`an object ${hash} of it has no row`),
      { seal: null, journal: null, what: '3 journals are in seal 2, which has no row' },
    ]);
  });

  it('Verify reports a truncated chain', async () => {
    const { hash } = await seal(3);
    await tamper('delete from seals where number = 3', 'delete from seal_journals where seal_number = 3');
    expect(await differences()).toEqual(ofSeal(`an object ${hash} of it has no row`, 3));
  });

  it('Verify reports a chain that was deleted and started again over other books', async () => {
    const { statement } = await seal(1);
    await tamper('delete from seals', 'delete from seal_journals', 'update postings set amount = amount * 2');
    await sealAll(stack);
    expect(await differences()).toEqual([
      { seal: null, journal: null, what: `a key of ours has signed seals that have no row: ${statement.chain}` },
    ]);
    const [row] = await stack.owner().execute<[{ hash: string; jws: string }]>('select hash, jws from seals');
    const anew = must((await stack.deps.sealKeys.open(row.jws)).statement, 'it can be read');
    await stack.deps.storage.remove(sealKey(anew, row.hash));
  });

  it.each([
    ['hash', `'${'0'.repeat(64)}'`, 'its hash is not that of its JWS'],
    ['sealed_at', "sealed_at - interval '1 second'", 'it says that it was made at another time'],
    ['covers_until', 'null', 'it says that it covers another time'],
  ])('Verify reports a %s that differs from the seal', async (column, value, what) => {
    await tamper(`update seals set ${column} = ${value} where number = 2`);
    expect(await differences()).toContainEqual(aboutSeal(what));
  });

  it('Verify reports swapped seals', async () => {
    await tamper(
      ...[
        [2, 99],
        [3, 2],
        [99, 3],
      ].map(([from, to]) => `update seals set number = ${to} where number = ${from}`),
    );
    const found = await differences();
    expect(found).toContainEqual(aboutSeal('it says that it is seal 3'));
    expect(found).toContainEqual(aboutSeal('it says that it is seal 2', 3));
    expect(found).toContainEqual(aboutSeal('it does not follow from the seal before it'));
  });
});

describe('Verification of signatures', () => {
  const stranger = (id: string) => createSealKeys({ SEAL_SIGNING_KEY: [{ id, key: new Uint8Array(randomBytes(32)) }] });
  const replace = async (jws: string, number = 2) =>
    tamper(`update seals set jws = '${jws}', hash = '${hashOfSeal(jws)}' where number = ${number}`);

  it.each([
    ['under our name', 'test', 'its signature does not hold: the key test has not signed it'],
    ['under its own name', 'mine', 'its signature does not hold: no known key mine (SEAL_VERIFICATION_KEYS)'],
  ])('Verify reports a signature of another key %s, even if row, object and chain agree', async (_, id, what) => {
    const { statement, key } = await seal(3);
    const jws = await stranger(id).sign(statement);
    await replace(jws, 3);
    const forged = sealKey(statement, hashOfSeal(jws));
    await put(forged, `${jws}\n${(await textOf(key)).split('\n').slice(1).join('\n')}`);
    const found = await differences();
    await stack.deps.storage.remove(forged);
    expect(found).toContainEqual(aboutSeal(what, 3));
    expect(found).toContainEqual(aboutSeal(`an object ${(await seal(3)).hash} of it has no row`, 3));
  });

  it.each([
    ['unreadable text', 'x', 'its signature does not hold: it cannot be read'],
    [
      'an unsigned JWS',
      `${Buffer.from('{"alg":"none","kid":"test"}').toString('base64url')}.${Buffer.from('{"format":1}').toString('base64url')}.`,
      'its signature does not hold: the key test has not signed it',
    ],
  ])('Verify reports %s in place of a signature', async (_, jws, what) => {
    await replace(jws);
    expect(await differences()).toContainEqual(aboutSeal(what));
  });

  it('Verify reports a signature whose text was changed', async () => {
    const { jws, statement } = await seal(2);
    const [head, , signature] = jws.split('.');
    const body = Buffer.from(JSON.stringify({ ...statement, journals: 2 })).toString('base64url');
    await replace(`${head}.${body}.${signature}`);
    expect(await differences()).toContainEqual(
      aboutSeal('its signature does not hold: the key test has not signed it'),
    );
  });

  it('Verify reports a signature of our key over something other than a seal', async () => {
    const { statement } = await seal(2);
    const { CompactSign } = await import('jose');
    const { createPrivateKey } = await import('node:crypto');
    const [signing] = stack.deps.config.SEAL_SIGNING_KEY ?? [];
    const head = Buffer.from('302e020100300506032b657004220420', 'hex');
    const key = createPrivateKey({
      key: Buffer.concat([head, must(signing, 'a key').key]),
      format: 'der',
      type: 'pkcs8',
    });
    const jws = await new CompactSign(Buffer.from(JSON.stringify(statement)))
      .setProtectedHeader({ alg: 'EdDSA', typ: 'other', kid: 'test' })
      .sign(key);
    await replace(jws);
    expect(await differences()).toContainEqual(
      aboutSeal('its signature does not hold: the key test has not signed it'),
    );
  });

  it('Verify accepts signatures of a rotated key whose public key is known', async () => {
    const { SEAL_SIGNING_KEY: old = [] } = stack.deps.config;
    const publicKeys = stack.deps.sealKeys.publicKeys.map(({ id, publicKey }) => ({
      id,
      key: new Uint8Array(Buffer.from(publicKey, 'base64')),
    }));
    const newer = [{ id: 'newer', key: new Uint8Array(randomBytes(32)) }];
    const rotated = { SEAL_SIGNING_KEY: newer, SEAL_VERIFICATION_KEYS: publicKeys };
    const deps = { ...stack.deps, sealKeys: createSealKeys(rotated) };
    await sealAll({ em: stack.em, deps });
    expect(await verify({ em: stack.em, deps })).toMatchObject({ differences: 0, seals: 4 });
    const forgotten = { ...stack.deps, sealKeys: createSealKeys({ SEAL_SIGNING_KEY: newer }) };
    expect((await verify({ em: stack.em, deps: forgotten })).sample).toHaveLength(3);
    // No seal is built on the seal of an unknown key.
    const strange = { ...stack.deps, sealKeys: createSealKeys({ SEAL_SIGNING_KEY: old }) };
    await expect(sealAll({ em: stack.em, deps: strange })).rejects.toThrow('seal 4 cannot be trusted');
    await stack.deps.storage.remove((await seal4()).key);
  });

  it('Two different seal keys with one id are rejected', () => {
    const [signing] = stack.deps.config.SEAL_SIGNING_KEY ?? [];
    const other = [{ id: 'test', key: new Uint8Array(randomBytes(32)) }];
    expect(() => createSealKeys({ SEAL_SIGNING_KEY: [must(signing, 'a key')], SEAL_VERIFICATION_KEYS: other })).toThrow(
      'differ in the key test',
    );
  });
});

describe('Verification of objects', () => {
  const withObject = async (number: number, change: (text: string) => string | null, see: () => Promise<void>) => {
    const { key } = await seal(number);
    const text = await textOf(key);
    const other = change(text);
    await (other === null ? stack.deps.storage.remove(key) : put(key, other));
    try {
      await see();
    } finally {
      await put(key, text);
    }
  };

  it('Verify reports a missing object', () =>
    withObject(
      2,
      () => null,
      async () => expect(await differences()).toEqual(ofSeal('its object is gone')),
    ));

  it('Verify reports a missing object of the last seal after an hour', () =>
    withObject(
      3,
      () => null,
      async () => {
        expect(await verify(stack)).toMatchObject({ differences: 0, beingStored: 3 });
        await tamper("update seals set sealed_at = sealed_at - interval '2 hours' where number = 3");
        expect(await differences()).toContainEqual(aboutSeal('its object is gone', 3));
      },
    ));

  it('Verify reports an object that belongs to another seal', async () => {
    const { jws } = await seal(1);
    await withObject(
      2,
      (text) => [jws, ...text.split('\n').slice(1)].join('\n'),
      async () => expect(await differences()).toEqual(ofSeal('its object carries another seal')),
    );
  });

  it.each<[string, (text: string) => string]>([
    ['lists other journals', (text) => text.replace(/ [0-9a-f]{4}/, ' 0000')],
    ['lists one journal less', (text) => text.split('\n').toSpliced(1, 1).join('\n')],
    ['lists one journal more', (text) => `${text}${newId()} ${'0'.repeat(64)}\n`],
    ['is endless', (text) => `${text}${'x'.repeat(5_000_000)}`],
  ])('Verify reports an object that %s', (_, change) =>
    withObject(2, change, async () =>
      expect(await differences()).toEqual(ofSeal('its object lists other journals than were sealed')),
    ),
  );

  it('Verify reports an empty object', () =>
    withObject(
      2,
      () => '',
      async () =>
        expect(await differences()).toEqual([
          ...ofSeal('its object carries another seal'),
          ...ofSeal('its object lists other journals than were sealed'),
        ]),
    ));

  it('Verify reports only the seal if journals have changed and no object shows which', () =>
    withObject(
      1,
      () => null,
      async () => {
        await tamper(`update postings set amount = amount * 2 where journal_id = '${victim}'`);
        const found = await differences();
        expect(found).toHaveLength(2);
        expect(found).toContainEqual(aboutSeal('its object is gone', 1));
        expect(found).toContainEqual(
          aboutSeal('its journals are not what was sealed; only its object can tell which', 1),
        );
      },
    ));

  itInFull('Verify ignores objects of another database in the same bucket', async () => {
    await using other = await startStack({ own: true, isImpatient: true, env: { LOG_LEVEL: 'silent' } });
    await sealAll(other);
    await expectIntact(stack);
    await expectIntact(other);
  });
});

describe('npm run verify', () => {
  const runIn = (env: Record<string, string>, ...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const script = join(import.meta.dirname, '../../../src/wiring/commands/verify.ts');
      execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  const run = (env: Record<string, string> = {}, ...args: string[]) => runIn({ ...stack.env, ...env }, ...args);

  it('npm run verify reports what it has read and with which keys', async () => {
    const { code, stdout } = await run();
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('3 seals over 7 journals; ') });
    expect(stdout).toContain(`The last: seal 3 of `);
    expect(stdout).toContain((await seal(3)).hash);
    expect(stdout).toMatch(/^Public key test:[\w+/]{43}=$/m);
    expect(stdout).toContain('Nothing differs from what was sealed.');
  }, 60_000);

  it('npm run verify names a check that it could not read, reads the others and exits with 3', async () => {
    // Only its owner may read it, and it sorts first.
    await stack.owner().execute('create view check_and_fail as select 1 as wrong');
    try {
      const { code, stdout } = await run();
      expect(code).toBe(3);
      expect(stdout).toMatch(/^check_and_fail +NOT READ: .*permission denied/m);
      expect(stdout).toMatch(/^check_journals_balance +ok$/m);
      expect(stdout).toContain('\n1 could not be read and prove nothing.\n');
      expect(stdout).toContain('Nothing differs from what was sealed.');
    } finally {
      await stack.owner().execute('drop view check_and_fail');
    }
  }, 60_000);

  itInFull(
    'npm run verify needs only the database’s reader, the file store and the public keys',
    async () => {
      const { publicKeys } = await verify(stack);
      const {
        PATH = '',
        S3_ENDPOINT = '',
        S3_BUCKET = '',
        S3_ACCESS_KEY_ID = '',
        S3_SECRET_ACCESS_KEY = '',
      } = stack.env;
      const env = {
        PATH,
        READER_DATABASE_URL: stack.databaseUrls.reader,
        S3_ENDPOINT,
        S3_BUCKET,
        S3_ACCESS_KEY_ID,
        S3_SECRET_ACCESS_KEY,
        SEAL_VERIFICATION_KEYS: publicKeys.map(({ id, publicKey }) => `${id}:${publicKey}`).join(','),
      };
      expect(await runIn(env)).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('Nothing differs from what was sealed.'),
      });
    },
    60_000,
  );

  itInFull(
    'npm run verify exits with 3 if it could not read everything',
    async () => {
      const { S3_ENDPOINT: _, ...incomplete } = stack.env;
      expect(await runIn({ ...incomplete, DATA_DIR: '/nowhere' })).toEqual({
        code: 3,
        stdout: '',
        stderr: 'The configuration cannot be used: S3_ENDPOINT is missing.\n',
      });
      expect(await run({}, '--jsn')).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('--jsn') });
      expect(await run({ READER_DATABASE_URL: 'postgres://reader@127.0.0.1:1/amanah' })).toMatchObject({
        code: 3,
        stdout: '',
      });
    },
    60_000,
  );

  it('npm run verify exits with 1 for one changed amount and names the journal', async () => {
    await tamper(`update postings set amount = amount * 2 where journal_id = '${victim}'`);
    const { code, stdout, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(`seal 1: the journal ${victim} is not what was sealed`);
  }, 60_000);

  itInFull(
    'npm run verify also names a changed journal in JSON output',
    async () => {
      await tamper(`update postings set amount = amount * 2 where journal_id = '${victim}'`);
      const { code, stdout } = await run({}, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout).seals).toMatchObject({ differences: 1, sample: ofJournal(changed) });
    },
    60_000,
  );

  itInFull(
    'npm run verify exits with 2 if the objects could not be compared, and with 1 on a difference',
    async () => {
      const away = { S3_ENDPOINT: 'http://127.0.0.1:1' };
      const { code, stdout } = await run(away);
      expect({ code, stdout }).toMatchObject({
        code: 2,
        stdout: expect.stringContaining('The objects of the seals were NOT compared: the file store does not answer.'),
      });
      await tamper(`update postings set amount = amount * 2 where journal_id = '${victim}'`);
      expect((await run(away)).code).toBe(1);
    },
    60_000,
  );

  itInFull(
    'npm run verify exits with 1 for a journal two days old and in no seal',
    async () => {
      const [journal = ''] = await postMany(stack, 1);
      expect((await run()).code).toBe(0);
      await tamper(`update journals set created_at = now() - interval '49 hours' where id = '${journal}'`);
      const { code, stdout } = await run();
      expect({ code, stdout }).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/check_journals_are_sealed +1 violation/),
      });
      expect(stdout).toContain(journal);
    },
    60_000,
  );
});
