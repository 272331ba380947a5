import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import { openTemporal } from '../../../src/wiring/temporal/connect.ts';
import { buildPayer, magicAccount, pay } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { awaitMail, tokenIn } from '../../support/mail.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { testRun } from '../../support/run.ts';
import { eventually } from '../../support/stack.ts';

/** Values that appear in no row, log line or history in plain text, by where they were given. */
const sealed = new Map<string, string>();

const canary = (where: string): string => {
  const value = `CANARY${randomBytes(9).toString('hex')}`;
  sealed.set(where, value);
  return value;
};
const keep = (kept: Map<string, string>, where: string, value: unknown): void => void kept.set(where, String(value));

let stack: ProcessStack;
let user: BuiltUser;
const level = process.env.TEST_LOG_LEVEL;

async function made(answer: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await answer;
  if (status > 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  // biome-ignore lint/suspicious/noExplicitAny: answers are read by tests, which say what they expect
  return body as any;
}

async function useEveryField(): Promise<void> {
  const { token } = user;
  const texts = ['province', 'city', 'country', 'district', 'subdistrict', 'street', 'village', 'rt', 'rw'];
  const more = ['postal_code', 'unit_number', 'building_number', 'label'];
  const address = Object.fromEntries([...texts, ...more].map((field) => [field, canary(`address ${field}`)]));
  const { data } = await made(stack.post('/v1/addresses', address, { token }));
  await made(stack.patch(`/v1/addresses/${data.address.id}`, { street: canary('changed street') }, { token }));
  await stack.post('/v1/addresses', { ...address, unknown: canary('refused field') }, { token });

  const document = await made(upload(stack, user, await buildTransaction(stack, user)));
  keep(sealed, 'document url', document.url.split('/').at(-1));
  await made(stack.get(`/v1/documents/${document.id}/view-url`, { token }));
  const identity = { number: canary('number'), name_on_document: canary('name_on_document') };
  await made(stack.post('/v1/official-documents', { kind: 'passport', ...identity }, { token }));

  // An account number has only digits, so it cannot be a canary.
  const account = { bank_code: 'MANDIRI', account_number: '90817263544536', account_holder: canary('account holder') };
  keep(sealed, 'account number', account.account_number);
  await made(stack.post('/v1/bank-accounts', account, { token }));

  const email = `${canary('email').toLowerCase()}@example.org`;
  const signup = { name: canary('user name'), email, password: canary('password') };
  await made(stack.post('/v1/auth/signup', signup));
  const login = await made(stack.post('/v1/auth/login', { email, password: signup.password }));
  keep(sealed, 'access token', login.data.access_token);
  await stack.post('/v1/auth/login', { email, password: canary('wrong password') });
  const options = { token: login.data.access_token as string };
  const { secret } = (await made(stack.post('/v1/auth/totp', undefined, options))).data;
  keep(sealed, 'secret of the second factor', secret);
  const changes = { name: canary('changed name'), profile_picture: `https://img.example/${canary('picture')}` };
  await made(stack.patch('/v1/auth/me', changes, options));
  await inviteAndBecome();
  const confirmed = await made(stack.post('/v1/auth/totp/confirm', { code: generateSync({ secret }) }, options));
  keep(sealed, 'recovery code', confirmed.data.recovery_codes[0]);
}

/** Stores personal data by an invitation and by the sign-up of an organization, and reads lists of it. */
async function inviteAndBecome(): Promise<void> {
  const { token } = await buildPlatformAdmin(stack);
  const person = () => ({
    name: canary('invited name'),
    email: `${canary('invited email').toLowerCase()}@example.org`,
  });
  const guest = person();
  await made(stack.post('/v1/users/invitations', { ...guest, user_type: 'individual' }, { token }));
  const invitation = tokenIn(await awaitMail(stack, guest.email, /diundang/));
  await made(stack.post('/v1/auth/invitations/accept', { token: invitation, password: canary('password') }));
  const admin = { ...person(), password: canary('password') };
  await made(stack.post('/v1/organizations/signup', { name: 'Yayasan', email: 'office@example.org', admin }));
  await made(stack.get('/v1/users', { token }));
  await made(stack.get('/v1/donations/statements/2026', { token: user.token }));
}

async function payAndBePaid(): Promise<void> {
  const payment = await made(
    stack.post(
      '/v1/payments/gateway',
      {
        reference_type: 'account_top_up',
        reference_id: user.accountId,
        payment_id: 1,
        amount: 50_000,
        transaction_name: canary('transaction_name'),
        transaction_desc: canary('transaction_desc'),
      },
      { token: user.token, headers: { 'idempotency-key': canary('idempotency key') } },
    ),
  );
  await stack.sandbox.post('/sandbox/pay', { payment_code: payment.data.payment_code });
  const path = `/v1/payments/orders/${payment.data.payment_order_id}`;
  await eventually(
    async () => (await made(stack.get(path, { token: user.token }))).data.status,
    (status) => status === 'PAID',
  );
  const order = payment.data.payment_order_id;
  const callback = {
    event: 'payment.succeeded',
    data: { id: randomUUID(), reference_id: order, payer: canary('payer') },
  };
  await stack.post('/v1/gateway/callbacks/xendit', callback, {
    headers: { 'x-callback-token': stack.env.XENDIT_CALLBACK_TOKEN ?? '', 'webhook-id': randomUUID() },
  });
  keep(sealed, 'callback token', stack.env.XENDIT_CALLBACK_TOKEN);

  const webhook = { url: `${stack.sandbox.url}/sandbox/webhooks` };
  const partner = await buildPayer(stack, { webhook });
  keep(sealed, 'API key', partner.apiKey);
  keep(sealed, 'signing secret', partner.signingSecret);
  keep(sealed, 'webhook secret', partner.webhookSecret);
  const collected = await made(
    partner.post('/payments', {
      method: 'virtual_account',
      channel: 'BCA',
      amount: '50000',
      customer_name: canary('customer_name'),
      customer_email: `${canary('customer_email').toLowerCase()}@example.org`,
      customer_phone: '+6281234509876',
      return_url: `https://shop.example/${canary('return_url')}`,
    }),
  );
  keep(sealed, 'customer_phone', '81234509876');
  const bankAccount = magicAccount('735291');
  await pay(partner, { bank_account_number: bankAccount, beneficiary_name: canary('beneficiary_name') });
  keep(sealed, 'bank account number', bankAccount);
  await stack.sandbox.post('/sandbox/pay', { payment_code: collected.payment_code ?? collected.data?.payment_code });
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from webhook_deliveries where delivered_at is not null'),
    (rows) => rows.length > 0,
  );
}

beforeAll(async () => {
  process.env.TEST_LOG_LEVEL = 'debug';
  // Not shared: its processes have to log at this level.
  stack = await startProcessStack({ own: true });
  user = await buildIndividual(stack);
  await Promise.all([useEveryField(), payAndBePaid()]);
}, 120_000);
afterAll(async () => {
  if (level === undefined) delete process.env.TEST_LOG_LEVEL;
  else process.env.TEST_LOG_LEVEL = level;
  await stack.stop();
});

const found = (text: string, canaries: Iterable<[string, string]>): string[] => {
  const lower = text.toLowerCase();
  return [...canaries].filter(([, value]) => lower.includes(value.toLowerCase())).map(([where]) => where);
};

describe('Secret values', () => {
  it('No secret value is in a dump of the database, in any column of any row of any table', async () => {
    const em = stack.owner();
    const tables = await em.execute<{ name: string }[]>(
      "select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname !~ '^(pg_|information_schema)'",
    );
    let dump = '';
    for (const { name } of tables) {
      const rows = await em.execute<{ row: string }[]>(`select t::text as row from ${name} t`);
      dump += rows.map(({ row }) => `${name} ${row}\n`).join('');
    }
    expect(dump).toContain(user.id);
    expect(dump).toContain('addresses');
    expect(found(dump, sealed)).toEqual([]);
    // Bytes are shown in hex, and contents of base64 are read too.
    const packed = [...dump.matchAll(/\\x([0-9a-f]{16,})|([A-Za-z0-9+/_-]{24,})/g)].map(([, hex, base64]) =>
      hex ? Buffer.from(hex, 'hex').toString('latin1') : Buffer.from(base64 ?? '', 'base64').toString('latin1'),
    );
    expect(found(packed.join('\n'), sealed)).toEqual([]);
  });

  it('No secret value is in the logs of API and worker at debug level', () => {
    const directory = join(testRun().directory, stack.env.TEMPORAL_TASK_QUEUE ?? '');
    for (const name of ['api', 'worker']) {
      const log = readFileSync(join(directory, `${name}.log`), 'utf8');
      expect(log).toContain(name === 'api' ? '/v1/official-documents' : 'the worker is polling');
      expect(found(log, sealed)).toEqual([]);
    }
  });

  it('No secret value is in a workflow’s history, ids, summary or search attributes', async () => {
    const address = stack.env.TEMPORAL_ADDRESS ?? '';
    const client = openTemporal({ address, namespace: 'default' });
    const query = `TaskQueue = '${stack.env.TEMPORAL_TASK_QUEUE}'`;
    let text = '';
    const read = (value: unknown): void => {
      if (value instanceof Uint8Array || Buffer.isBuffer(value)) text += `${Buffer.from(value).toString('utf8')}\n`;
      else if (typeof value === 'string') text += `${value}\n`;
      else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) read(part);
    };
    const types = new Set<string>();
    await eventually(
      async () => {
        for await (const { workflowId, runId, type, raw } of client.workflow.list({ query })) {
          types.add(type);
          read([workflowId, raw, await client.workflow.getHandle(workflowId, runId).fetchHistory()]);
        }
        return [...types];
      },
      (seen) => seen.includes('gatewayPayment') && seen.includes('partnerPayment'),
    );
    await client.connection.close();
    expect(text).toContain(user.id);
    expect(found(text, sealed)).toEqual([]);
  });
});
