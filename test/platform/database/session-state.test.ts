import { PostgreSqlConnection } from '@mikro-orm/postgresql';
import { runChecks } from '../../../src/ledger/run-checks.ts';
import { must } from '../../../src/shared/assert.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { openPoolAccount } from '../../support/build-targets.ts';
import { freshKey } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, env: { DATABASE_POOL_SIZE: '3' } });
}, 90_000);
afterAll(() => stack.stop());

/** Session state that outlives its transactions, which a pooler in transaction mode would pass to another client. */
const kept = `select
  (select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks,
  (select coalesce(json_agg(name), '[]') from pg_settings where source = 'session') as settings,
  (select coalesce(json_agg(name order by name), '[]') from pg_settings where source = 'client') as start_up,
  (select count(*)::int from pg_listening_channels()) as channels,
  (select count(*)::int from pg_cursors where is_holdable) as cursors,
  (select count(*)::int from pg_prepared_statements where from_sql) as prepared_by_text,
  pg_my_temp_schema()::int as temporary`;

it('After payments, lists, statements, exports and checks, a connection has no session state', async () => {
  const person = await buildIndividual(stack, { balance: '100000' });
  const platform = await buildPlatformAdmin(stack);
  const { token } = person;
  const payment = {
    source_account_id: person.accountId,
    reference_type: 'charitable_cause_open_donate',
    reference_id: openPoolAccount,
    amount: 1000,
  };
  const pay = () => {
    const headers = { 'idempotency-key': freshKey() };
    return asAClient(() => stack.post('/v1/payments/balance', payment, { token, headers }));
  };
  const read = (path: string, by: string) => asAClient(() => stack.get(path, { token: by }));
  const ofEach = await Promise.all([
    ...Array.from({ length: 6 }, pay),
    read(`/v1/accounts/${person.accountId}/statement`, token),
    read('/v1/addresses', platform.token),
    read('/v1/events', platform.token),
    read(`/v1/exports/journals?day=${new Date().toISOString().slice(0, 10)}`, platform.token),
  ]);
  expect(ofEach.filter(({ status }) => status > 299).map(({ body }) => body.message)).toEqual([]);
  await runChecks(stack.deps.orm.em.fork());

  const connection = stack.deps.orm.em.getConnection();
  if (!(connection instanceof PostgreSqlConnection)) throw new Error('the product runs on PostgreSQL');
  const pool = await connection.getNativeClient();
  const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
  try {
    for (const client of clients) {
      const { rows } = await client.query(kept);
      expect(must(rows[0], 'a session has a state')).toEqual({
        locks: 0,
        settings: [],
        // A pooler passes both on.
        start_up: ['application_name', 'client_encoding'],
        channels: 0,
        cursors: 0,
        prepared_by_text: 0,
        temporary: 0,
      });
    }
  } finally {
    for (const client of clients) client.release();
  }
}, 60_000);
