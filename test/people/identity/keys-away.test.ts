import { once } from 'node:events';
import type { Server } from 'node:http';
import { startTcpProxy, type TcpProxy } from '../../../dev/tcp-proxy.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { newId } from '../../../src/shared/ids.ts';
import { createApp } from '../../../src/wiring/app.ts';
import { type Dependencies, openDependencies } from '../../../src/wiring/dependencies.ts';
import { balanceOf, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { casesOf } from '../../support/full.ts';
import { createHttp, type Http } from '../../support/http.ts';
import { loseKey } from '../../support/lost-keys.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const password = 'correct horse battery';
const address = () => `${newId()}@example.org`;

describe('While the personal keys are unreachable', () => {
  let stack: Stack;
  let proxy: TcpProxy;
  let deps: Dependencies;
  let server: Server;
  /** A second API whose connection to the keys database a test can cut. */
  let http: Http;
  let url: string;
  beforeAll(async () => {
    stack = await startStack({ isImpatient: true });
    const keys = new URL(stack.env.KEYS_DATABASE_URL ?? '');
    proxy = await startTcpProxy('keys', [Number(keys.port)]);
    keys.port = String(proxy.port);
    deps = await openDependencies(readConfig({ ...stack.env, KEYS_DATABASE_URL: keys.href, LOG_LEVEL: 'silent' }), {
      process: 'test',
    });
    server = createApp(deps).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    url = `http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
    http = createHttp(url);
  }, 120_000);
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await deps?.[Symbol.asyncDispose]();
    await proxy?.close();
    await stack?.stop();
  });

  const users = async () =>
    (await stack.em().execute<[{ count: number }]>('select count(*)::int as count from users'))[0].count;

  it.each(casesOf(['black-hole', 'refuse'] as const))(
    'Sign-ups, logins, invitations and user lists return 503 without personal keys and create no user (%s)',
    async (kind) => {
      const known = address();
      expect((await stack.post('/v1/auth/signup', { name: 'Siti', email: known, password })).status).toBe(201);
      const { token } = await buildPlatformAdmin(stack);
      const before = await users();
      const invitation = { email: address(), name: 'Budi', user_type: 'individual' };
      proxy.set({ kind });
      try {
        const answers = await Promise.all([
          http.post('/v1/auth/signup', { name: 'Ani', email: address(), password }),
          http.post('/v1/auth/login', { email: known, password }),
          http.post('/v1/users/invitations', invitation, { token }),
          http.get('/v1/users', { token }),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
        for (const { headers } of answers) expect(headers.get('retry-after')).toMatch(/^\d+$/);
      } finally {
        proxy.set({ kind: 'pass' });
      }
      expect(await users()).toBe(before);
      await eventually(
        async () => (await http.post('/v1/auth/login', { email: known, password })).status,
        (status) => status === 200,
      );
    },
    60_000,
  );

  it('A person whose key is missing is listed as unreadable, and only that person', async () => {
    const email = address();
    const { id } = (await stack.post('/v1/auth/signup', { name: 'Siti', email, password })).body.data;
    const token = (await stack.post('/v1/auth/login', { email, password })).body.data.access_token as string;
    const home = { province: 'Bali', city: 'Denpasar', country: 'Indonesia', street: 'Jalan Siti' };
    const { id: homeId } = (await stack.post('/v1/addresses', home, { token })).body.data.address;
    const { token: platform } = await buildPlatformAdmin(stack);
    const giveBack = await loseKey(stack, id, 'personal_keys');
    try {
      const shown = { id, name: 'Unreadable user', email: `${id}@unreadable.invalid`, profile_picture: null };
      const list = await http.get('/v1/users?limit=100', { token: platform });
      expect(list.status).toBe(200);
      expect(list.body.data.items).toContainEqual(expect.objectContaining(shown));
      expect(list.body.data.items.filter(({ name }: { name: string }) => name === shown.name)).toHaveLength(1);
      expect((await http.get(`/v1/users/${id}`, { token: platform })).body.data).toMatchObject(shown);
      const addresses = await http.get('/v1/addresses', { token: platform });
      expect([addresses.status, JSON.stringify(addresses.body)]).toEqual([200, expect.not.stringContaining(homeId)]);
      const refused = await Promise.all([
        http.get(`/v1/addresses/${homeId}`, { token }),
        http.post('/v1/auth/login', { email, password }),
        http.patch('/v1/auth/me', { name: 'Another' }, { token }),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    } finally {
      await giveBack();
    }
    expect((await http.get(`/v1/users/${id}`, { token: platform })).body.data).toMatchObject({ name: 'Siti', email });
  });

  it('Storing anything about a person whose key is missing returns 503 and creates no replacement key', async () => {
    const person = await buildIndividual(stack);
    const productId = await buildTransaction(stack, person);
    const by = { token: person.token };
    const home = { province: 'Bali', city: 'Denpasar', country: 'Indonesia', street: 'Jalan Siti' };
    const bank = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Siti' };
    const passport = { kind: 'passport', number: 'A1234567', name_on_document: 'Siti' };
    const topUp = { reference_type: 'account_top_up', reference_id: person.accountId, payment_id: 1, amount: 50_000 };
    const giveBack = await loseKey(stack, person.id, 'personal_keys');
    const made = async () =>
      stack.em().execute(
        `select 'address' as what from addresses where user_id = ?
         union all select 'bank account' from bank_accounts where user_id = ?
         union all select 'official document' from official_documents where user_id = ?
         union all select 'document' from documents where created_by = ?
         union all select 'payment' from payment_orders where user_id = ?`,
        Array(5).fill(person.id),
      );
    try {
      const answers = await Promise.all([
        http.post('/v1/addresses', home, by),
        http.post('/v1/bank-accounts', bank, by),
        http.post('/v1/official-documents', passport, by),
        upload({ ...stack, url }, by, productId),
        http.post('/v1/payments/gateway', { ...topUp, transaction_name: 'Untuk Ibu' }, by),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
      expect(await made()).toEqual([]);
      const keys = stack.deps.keysOrm.em.fork();
      expect(await keys.execute('select id from personal_keys where id = ?', [person.id])).toEqual([]);
    } finally {
      await giveBack();
    }
    expect((await http.post('/v1/addresses', home, by)).status).toBe(201);
    expect((await http.get('/v1/auth/me', by)).body.data).toMatchObject({ email: person.email });
  });

  it('A pocket transfer succeeds while the personal keys are unreachable', async () => {
    const payer = await buildIndividual(stack, { balance: '1000' });
    const pocket = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
    proxy.set({ kind: 'refuse' });
    try {
      const { status } = await http.post(
        `/v1/accounts/${payer.accountId}/transfers`,
        { destination_account_id: pocket.body.data.id, amount: '10' },
        { token: payer.token },
      );
      expect(status).toBe(201);
      expect(await balanceOf(stack, payer.accountId)).toBe('990.0000');
    } finally {
      proxy.set({ kind: 'pass' });
    }
  });
});
