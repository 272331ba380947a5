import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { dataDirectory, readDatabaseToRead, readTemporalPlace } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { CommandError, runCommand } from './run-command.ts';

const usage = `Usage: npm run demo [-- --amount 50000] [--wait]

Against a running "npm start": logs in as the demo individual, tops up by QRIS, pays in the sandbox, waits for the
settlement, and prints the balance before and after, the journal, and where the workflow is to be seen.

  --amount N   whole rupiah (default 50000)
  --wait       do not pay: print the link of the payment page and wait until somebody pays there (10 minutes)`;

const settledWithinSeconds = 30;
const personPaysWithinSeconds = 600;
const pollMs = 250;

const credentialsShape = z.object({
  urls: z.object({ api: z.url(), sandbox: z.url().nullish(), temporal_ui: z.url().nullish() }),
  individual: z.object({ email: z.string(), password: z.string(), account_id: z.string() }),
});
const loginShape = z.object({ data: z.object({ access_token: z.string() }) });
const accountShape = z.object({ data: z.object({ balance: z.string() }) });
const channelsShape = z.object({
  data: z.object({ items: z.array(z.object({ payment_id: z.int(), method: z.string() })) }),
});
const orderShape = z.object({
  data: z.object({
    payment_order_id: z.string(),
    status: z.string(),
    qr_code: z.string().nullable(),
    transaction_id: z.string().nullable(),
  }),
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** One call of the API; a refusal is a sentence. */
async function call<T>(shape: z.ZodType<T>, url: string, options: { token?: string; body?: object } = {}): Promise<T> {
  const answer = await fetch(url, {
    method: options.body ? 'POST' : 'GET',
    headers: {
      ...(options.token && { authorization: `Bearer ${options.token}` }),
      ...(options.body && { 'content-type': 'application/json' }),
    },
    ...(options.body && { body: JSON.stringify(options.body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new CommandError(`${new URL(url).pathname} answered ${answer.status}: ${text.slice(0, 300)}`);
  return shape.parse(JSON.parse(text));
}

await runCommand(usage, async () => {
  const { values } = parseArgs({
    options: {
      amount: { type: 'string', default: '50000' },
      wait: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return usage;
  if (!/^[1-9]\d{0,6}$/.test(values.amount)) throw new CommandError('--amount is whole rupiah, 1 to 9999999');
  const databaseUrl = readDatabaseToRead();
  const { urls, individual } = readCredentials();
  const at = (path: string) => new URL(path, urls.api).href;
  const { data: login } = await call(loginShape, at('/v1/auth/login'), {
    body: { email: individual.email, password: individual.password },
  });
  const token = login.access_token;
  const balance = async () =>
    (await call(accountShape, at(`/v1/accounts/${individual.account_id}`), { token })).data.balance;
  const before = await balance();
  say(`Logged in as ${individual.email}. Balance before: IDR ${before}`);

  const { data: channels } = await call(channelsShape, at('/v1/payments/channels'), { token });
  const qris = channels.items.find(({ method }) => method === 'qris');
  if (qris === undefined) throw new CommandError('There is no QRIS channel.');
  const { data: order } = await call(orderShape, at('/v1/payments/gateway'), {
    token,
    body: {
      reference_type: 'account_top_up',
      reference_id: individual.account_id,
      payment_id: qris.payment_id,
      amount: Number(values.amount),
    },
  });
  say(`Top-up ${order.payment_order_id} of IDR ${values.amount} by QRIS: ${order.status}`);
  say(`QRIS payload:  ${order.qr_code}`);
  if (urls.sandbox) say(`Payment page:  ${new URL('/', urls.sandbox).href}`);
  if (!values.wait) {
    if (!urls.sandbox) throw new CommandError('There is no sandbox here: pay yourself, with --wait.');
    await call(z.unknown(), new URL('/sandbox/pay', urls.sandbox).href, { body: { payment_code: order.qr_code } });
    say('Paid in the sandbox.');
  }
  const deadline = Date.now() + (values.wait ? personPaysWithinSeconds : settledWithinSeconds) * 1000;
  let { status } = order;
  while (status !== 'PAID') {
    if (status === 'FAILED' || status === 'EXPIRED') throw new CommandError(`The payment ended ${status}.`);
    if (Date.now() > deadline)
      throw new CommandError(`The payment is still ${status}; the workflow goes on without us.`);
    await delay(pollMs);
    ({ status } = (await call(orderShape, at(`/v1/payments/orders/${order.payment_order_id}`), { token })).data);
  }
  say(`Settled: ${status}. Balance after: IDR ${await balance()}`);
  say(await journalOf(databaseUrl, order.payment_order_id));
  const ui =
    urls.temporal_ui &&
    new URL(
      `/namespaces/${readTemporalPlace().TEMPORAL_NAMESPACE}/workflows/gateway-payment%2F${order.payment_order_id}`,
      urls.temporal_ui,
    ).href;
  return ui ? `Workflow:      ${ui}` : 'Done.';
});

function readCredentials(): z.infer<typeof credentialsShape> {
  const file = join(dataDirectory(), 'credentials.json');
  try {
    return credentialsShape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new CommandError(`The demo needs the credentials that "npm start" writes to ${file}.`, { cause });
  }
}

/** The settlement's journal as the ledger has it. */
async function journalOf(databaseUrl: string, orderId: string): Promise<string> {
  const orm = await openDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const rows = await orm.em.fork().execute<{ kind: string; name: string; amount: string }[]>(
      `select j.kind, a.name, p.amount::text from journal_keys k join journals j on j.id = k.journal_id
       join postings p on p.journal_id = j.id join accounts a on a.id = p.account_id where k.business_key = ? order by p.id`,
      [`payment-order/${orderId}/settled`],
    );
    const lines = rows.map(({ name, amount }) => `  ${name.padEnd(24)}${amount.padStart(20)}`);
    return [`Journal ${rows[0]?.kind ?? 'not found'}:`, ...lines].join('\n');
  } finally {
    await orm.close(true);
  }
}
