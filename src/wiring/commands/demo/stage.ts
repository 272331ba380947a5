import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { dataDirectory } from '../../../platform/config/command-config.ts';
import { CommandError } from '../run-command.ts';

/** Shared by the demo stories: the logins, the API, the sandbox, and polling. */

const settledWithinSeconds = 30;
const pollMs = 250;

const login = z.object({ email: z.string(), password: z.string() });
const holder = login.extend({ account_id: z.string() });
const credentialsShape = z.object({
  urls: z.object({ api: z.url(), sandbox: z.url().nullish(), temporal_ui: z.url().nullish(), database: z.string() }),
  platform_super_admin: login,
  organization_admin: holder,
  individual: holder,
  second_individual: holder,
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
  }),
});
export type Order = z.infer<typeof orderShape>['data'];

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A logged-in user. */
export interface Actor {
  email: string;
  token: string;
  accountId: string;
}

interface CallOptions {
  token?: string;
  method?: 'POST' | 'PATCH';
  body?: object;
}

/** Calls the API; throws a refusal as one sentence. */
async function call<T>(shape: z.ZodType<T>, url: string, { token, method, body }: CallOptions = {}): Promise<T> {
  const answer = await fetch(url, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new CommandError(`${new URL(url).pathname} answered ${answer.status}: ${text.slice(0, 300)}`);
  return shape.parse(JSON.parse(text));
}

/** Opens the stack that runs on the data directory. Throws CommandError when none was started there. */
export function openStage() {
  const credentials = readCredentials();
  const { urls } = credentials;
  const api = <T>(shape: z.ZodType<T>, path: string, options?: CallOptions): Promise<T> =>
    call(shape, new URL(path, urls.api).href, options);

  async function logIn({ email, password }: { email: string; password: string }, accountId: string): Promise<Actor> {
    const { data } = await api(loginShape, '/v1/auth/login', { body: { email, password } });
    return { email, token: data.access_token, accountId };
  }
  const balanceOf = async ({ token, accountId }: Actor): Promise<string> =>
    (await api(accountShape, `/v1/accounts/${accountId}`, { token })).data.balance;

  /** Opens a QRIS order. `amount` is whole rupiah. */
  async function orderByQris(
    { token }: Actor,
    subject: { reference_type: string; reference_id: string; amount: number },
  ): Promise<Order> {
    const { data: channels } = await api(channelsShape, '/v1/payments/channels', { token });
    const qris = channels.items.find(({ method }) => method === 'qris');
    if (qris === undefined) throw new CommandError('There is no QRIS channel.');
    return (await api(orderShape, '/v1/payments/gateway', { token, body: { ...subject, payment_id: qris.payment_id } }))
      .data;
  }

  /** Pays as the customer would, in the sandbox. */
  async function payInSandbox({ qr_code }: Order): Promise<void> {
    if (!urls.sandbox) throw new CommandError('There is no sandbox here; pay yourself with --wait.');
    await call(z.unknown(), new URL('/sandbox/pay', urls.sandbox).href, { body: { payment_code: qr_code } });
  }

  /** Waits until the order is PAID. */
  const untilPaid = ({ token }: Actor, { payment_order_id }: Order, withinSeconds?: number): Promise<Order> =>
    until(
      `payment ${payment_order_id}`,
      async () => (await api(orderShape, `/v1/payments/orders/${payment_order_id}`, { token })).data,
      ({ status }) => {
        if (status === 'FAILED' || status === 'EXPIRED')
          throw new CommandError(`The payment's final status is ${status}.`);
        return status === 'PAID';
      },
      withinSeconds,
    );

  return { credentials, urls, api, logIn, balanceOf, orderByQris, payInSandbox, untilPaid };
}

export type Stage = ReturnType<typeof openStage>;

/** Polls until the answer satisfies `isSo`. Throws CommandError on time-out; work already started continues. */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  isSo: (answer: T) => boolean,
  withinSeconds = settledWithinSeconds,
): Promise<T> {
  const deadline = Date.now() + withinSeconds * 1000;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > deadline) throw new CommandError(`The ${what} did not complete in time; its workflow continues.`);
    await delay(pollMs);
  }
}

function readCredentials(): z.infer<typeof credentialsShape> {
  const file = join(dataDirectory(), 'credentials.json');
  try {
    return credentialsShape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new CommandError(`The demo needs the credentials that "npm start" writes to ${file}.`, { cause });
  }
}
