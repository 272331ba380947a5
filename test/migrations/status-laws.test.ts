import pg from 'pg';
import { canMove, type StatusLaw } from '../../src/shared/status-law.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { casesOf } from '../support/full.ts';
import { statusLaws } from '../support/status-laws.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const read = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  (await client.query<Row>(sql, values)).rows;

/** Runs work in a transaction that is rolled back. */
async function inPassing<T>(work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await work();
  } finally {
    await client.query('rollback');
  }
}

/** Returns the SQLSTATE and message with which a statement is refused, or null. */
async function refusalOf(sql: string): Promise<{ code: string | undefined; message: string } | null> {
  await client.query('savepoint attempt');
  try {
    await client.query(sql);
    return null;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return { code: error.code, message: error.message };
  } finally {
    await client.query('rollback to attempt');
  }
}

/** Text columns named like a status: `table.column`. (HTTP statuses are numbers.) */
const findStatusColumns = async (): Promise<string[]> =>
  (
    await read<{ place: string }>(
      `select c.table_name || '.' || c.column_name as place
       from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type in ('text', 'character varying')
         and c.column_name ~ '(^|_)(status|state|stage|phase|outcome)$'
         -- The decided outcome of a payout, which never changes.
         and (c.table_name, c.column_name) <> ('decisions', 'outcome') order by place`,
    )
  ).map(({ place }) => place);

const placeOf = (place: string): { table: string; column: string } => {
  const [table = '', column = ''] = place.split('.');
  return { table, column };
};

/** Returns the transitions as arguments of a trigger. */
const ways = ({ initial, transitions }: Pick<StatusLaw, 'initial' | 'transitions'>): string[] =>
  [
    ...initial.map((status) => `>${status}`),
    ...Object.entries(transitions).flatMap(([from, targets]) => targets.map((to) => `${from}>${to}`)),
  ].sort();

/** Returns the statuses that the column's check allows. */
async function findCheckedStatuses({ table, column }: { table: string; column: string }): Promise<string[]> {
  const rows = await read<{ status: string }>(
    `select m[1] as status from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum],
       regexp_matches(pg_get_constraintdef(k.oid), $re$'([^']*)'::text$re$, 'g') m
     where k.contype = 'c' and k.conrelid = $1::regclass and a.attname = $2`,
    [table, column],
  );
  return rows.map(({ status }) => status);
}

/** Returns the transitions that the triggers allow, by column. */
async function findEnforcedWays(): Promise<Record<string, string[]>> {
  const triggers = await read<{ table: string; args: string }>(
    `select tgrelid::regclass::text as "table", encode(tgargs, 'escape') as args from pg_trigger
     where tgfoid = 'keep_status'::regproc and tgenabled = 'O' and tgparentid = 0`,
  );
  const found: Record<string, string[]> = {};
  for (const { table, args } of triggers) {
    const [column = '', ...named] = args.split('\\000').slice(0, -1);
    const statuses = await findCheckedStatuses({ table, column });
    const any = statuses.flatMap((from) => statuses.filter((to) => to !== from).map((to) => `${from}>${to}`));
    found[`${table}.${column}`] = named.flatMap((way) => (way === '*' ? any : [way])).sort();
  }
  return found;
}

describe('Status transitions', () => {
  it('Exactly the status columns of the schema have defined transitions', async () => {
    expect(await findStatusColumns()).toEqual(Object.keys(statusLaws).sort());
  });

  it('A new status column without transitions is reported', () =>
    inPassing(async () => {
      await client.query('alter table events add column review_state text');
      expect(await findStatusColumns()).toContain('events.review_state');
      expect(Object.keys(statusLaws)).not.toContain('events.review_state');
    }));

  it('Transitions are the same in the database and in TypeScript', async () => {
    const written = Object.entries(statusLaws).map(([place, law]) => [place, ways(law)]);
    expect(await findEnforcedWays()).toEqual(Object.fromEntries(written));
  });

  it.each(Object.entries(statusLaws))('A check constraint limits %s to its defined statuses', async (place, law) => {
    expect((await findCheckedStatuses(placeOf(place))).sort()).toEqual([...law.statuses].sort());
  });
});

interface Column {
  column: string;
  type: string;
}

/** Builds an insert of a row with this status and arbitrary valid values in the required columns. */
async function anyRow({ table, column }: { table: string; column: string }, status: string | null): Promise<string> {
  const required = await read<Column>(
    `select column_name as "column", data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = $1 and column_name <> $2 and is_nullable = 'NO'
       and column_default is null and is_identity = 'NO' and is_generated = 'NEVER'`,
    [table, column],
  );
  const values: Record<string, string> = {
    [column]: status === null ? 'null' : `'${status}'`,
  };
  for (const { column: name, type } of required) {
    const [one] = await findCheckedStatuses({ table, column: name });
    values[name] = one === undefined ? anyValue(type) : `'${one}'`;
  }
  return `insert into ${table} (${Object.keys(values)}) values (${Object.values(values)})`;
}

const anyValue = (type: string): string => {
  if (type === 'uuid') return 'gen_random_uuid()';
  if (type === 'date' || type.startsWith('timestamp')) return 'now()';
  if (type === 'jsonb' || type === 'ARRAY') return "'{}'";
  if (['numeric', 'bigint', 'integer', 'smallint'].includes(type)) return '1';
  return "'xxx'";
};

describe('Statuses changed by SQL', () => {
  // Drops other conditions on rows (instants, references, accounts), which would refuse some allowed transitions.
  beforeAll(() =>
    client.query(`do $$ declare rule record; begin
      for rule in select conrelid::regclass as place, conname from pg_constraint
        where connamespace = 'public'::regnamespace and (contype = 'f' or contype = 'c' and cardinality(conkey) > 1)
      loop execute format('alter table %s drop constraint %I', rule.place, rule.conname); end loop;
      drop function keep_own_accounts, keep_payout_accounts, keep_account_kinds, keep_start_date, keep_payouts_end, keep_decision, set_provider_of_channel, set_provider_of_payout cascade; end $$`),
  );

  /** One function enforces all laws, so `npm test` tries a third. */
  const standing = casesOf(Object.entries(statusLaws), (_, index) => index % 3 === 0);

  /** Inserts a row with this status, past the triggers. */
  async function plant(place: string, status: string | null): Promise<void> {
    await client.query("set local session_replication_role = 'replica'");
    await client.query(await anyRow(placeOf(place), status));
    await client.query("set local session_replication_role = 'origin'");
  }

  it.each(standing)('%s starts only with an initial status', (place, law) =>
    inPassing(async () => {
      for (const status of law.statuses) {
        const refusal = await refusalOf(await anyRow(placeOf(place), status));
        expect([status, refusal?.code]).toEqual([status, law.initial.includes(status) ? undefined : 'AM008']);
      }
    }),
  );

  it.each(standing)('%s changes only along its transitions', (place, law) =>
    inPassing(async () => {
      const { table, column } = placeOf(place);
      const [{ nullable } = { nullable: '' }] = await read<{ nullable: string }>(
        `select is_nullable as nullable from information_schema.columns
         where table_schema = 'public' and table_name = $1 and column_name = $2`,
        [table, column],
      );
      const none = nullable === 'YES' ? [null] : [];
      for (const from of [...none, ...law.statuses]) {
        await client.query('savepoint planted');
        await plant(place, from);
        for (const to of [...none, ...law.statuses].filter((status) => status !== from)) {
          const refusal = await refusalOf(`update ${table} set ${column} = ${to === null ? 'null' : `'${to}'`}`);
          if (to !== null && (from === null ? law.initial.includes(to) : canMove(law, from, to))) {
            expect([from, to, refusal]).toEqual([from, to, null]);
          } else {
            // Ledger transactions never change at all.
            expect([from, to, refusal?.code]).toEqual([from, to, table === 'transactions' ? 'AM003' : 'AM008']);
          }
        }
        await client.query('rollback to planted');
      }
    }),
  );

  it('A refused transition names table, id and both statuses', () =>
    inPassing(async () => {
      await plant('payouts.status', 'succeeded');
      const [{ id } = { id: '' }] = await read<{ id: string }>('select id from payouts');
      expect(await refusalOf("update payouts set status = 'pending'")).toEqual({
        code: 'AM008',
        message: `payouts ${id}: status does not go from succeeded to pending`,
      });
      expect(await refusalOf(await anyRow(placeOf('reconciled_days.state'), 'done'))).toEqual({
        code: 'AM008',
        message: expect.stringMatching(/^reconciled_days xendit\/\d{4}-\d\d-\d\d: state does not begin with done$/),
      });
    }));
});
