import { must } from '../../../src/shared/assert.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { buildActiveCircle, buildConsentedCircle, buildMembers } from '../../circles/build-circle.ts';
import { type BalanceRequest, balanceWays, notAtAll, readPaid, wholly } from '../../e2e/balance-ways.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import { addBankAccount } from '../../money-out/withdrawals/build-withdrawals.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

/**
 * A database whose connection to the API is cut during a balance payment, or stalls for longer than its request waits.
 */
let stack: ProcessStack;
let causeId: string;
beforeAll(async () => {
  stack = await startProcessStack({ proxied: true });
  causeId = await buildCause(stack, await buildOrganizationAdmin(stack), await buildSuperAdmin(stack));
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop(), 60_000);
afterEach(() => stack.lines.api.database.set({ kind: 'pass' }));

const buildPayer = () => buildIndividual(stack, { balance: '1000' });
const donate = ({ token, accountId }: BuiltUser, key?: string) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: 'charitable_cause_donate', reference_id: causeId, source_account_id: accountId, amount: 100 },
    { token, headers: key === undefined ? {} : { 'idempotency-key': key } },
  );
const toPocket = async (payer: BuiltUser) => {
  const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
  const transfer = { destination_account_id: body.data.id, amount: '100' };
  return () => stack.post(`/v1/accounts/${payer.accountId}/transfers`, transfer, { token: payer.token });
};
/** Forces new connections: only they receive the text of a prepared statement. The API may try cut ones first. */
async function reconnect({ token }: BuiltUser): Promise<void> {
  stack.lines.api.database.cut();
  await eventually(
    () => stack.get('/v1/auth/me', { token }),
    ({ status }) => status === 200,
  );
}
/** Cuts the first payment's connection once its statement was sent, so the API cannot tell whether it committed. */
async function loseOneAnswer(payer: BuiltUser, { text = 'pay_from_balance', awayMs = 0 } = {}): Promise<void> {
  await reconnect(payer);
  stack.lines.api.database.set({ kind: 'cut-after', text, once: true, awayMs });
}
const linesOf = async ({ token }: BuiltUser) => (await stack.get('/v1/transactions', { token })).body.data.count;

describe('A payment from a balance whose statement was not answered', () => {
  it.each(
    casesOf([
      ['donation', async (payer: BuiltUser) => () => donate(payer)],
      ['transfer', toPocket],
    ] as const),
  )(
    'A %s without an idempotency key is executed once and returns 201 even if its commit got no answer',
    async (_, prepare) => {
      const payer = await buildPayer();
      const pay = await prepare(payer);
      await loseOneAnswer(payer);
      const { status, body } = await pay();
      expect([status, body.data]).toEqual([201, expect.objectContaining({ new_balance: '900.0000' })]);
      expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
      const { body: found } = await stack.get(`/v1/transactions/${body.data.transaction_id}`, { token: payer.token });
      expect(found.data.transaction).toMatchObject({ id: body.data.transaction_id, amount: '100.0000' });
    },
    120_000,
  );

  it('A balance payment during a database restart is executed once and returns 201', async () => {
    const payer = await buildPayer();
    await loseOneAnswer(payer, { awayMs: 1_200 });
    const { status, body } = await donate(payer);
    expect([status, body.data]).toEqual([201, expect.objectContaining({ new_balance: '900.0000' })]);
    expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
  }, 120_000);

  it('A balance payment is executed once even if the connection is lost while its key is looked up', async () => {
    const payer = await buildPayer();
    await loseOneAnswer(payer, { text: 'opening_numbers' });
    const { status, body } = await donate(payer, freshKey());
    expect([status, body.data]).toEqual([201, expect.objectContaining({ new_balance: '900.0000' })]);
    expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
  }, 120_000);

  it('A first contribution whose commit got no answer returns the debited amount, guarantee included', async () => {
    const { id, creator } = await buildConsentedCircle(stack, await buildMembers(stack, 2), {
      terms: { guarantee_percent: 25 },
    });
    await loseOneAnswer(creator, { text: 'commit' });
    const { status, body } = await stack.post(
      '/v1/payments/balance',
      {
        reference_type: 'saving_circle_contribution',
        reference_id: id,
        source_account_id: creator.accountId,
        amount: 100_000,
      },
      { token: creator.token },
    );
    expect([status, body.data]).toEqual([
      201,
      expect.objectContaining({ amount: '125000.0000', new_balance: '875000.0000' }),
    ]);
    expect(await linesOf(creator)).toBe(1);
  }, 120_000);

  it('Payments posted together whose commit got no answer are each executed once', async () => {
    const payers = await Promise.all(Array.from({ length: isFullRun() ? 20 : 8 }, buildPayer));
    await loseOneAnswer(payers[0] as BuiltUser);
    const answers = await Promise.all(payers.map((payer) => donate(payer)));
    expect(answers.map(({ status }) => status)).toEqual(payers.map(() => 201));
    for (const payer of payers) {
      expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
    }
  }, 120_000);
});

const ask = (
  { path, body, payer: { token } }: Pick<BalanceRequest, 'path' | 'payer'> & { body: object },
  key?: string,
): Promise<HttpAnswer> =>
  stack.post(path, body, { token, headers: key === undefined ? {} : { 'idempotency-key': key } });

/** Waits until no held-back statement is in flight. */
const untilQuiet = () =>
  eventually(
    () =>
      stack
        .owner()
        .execute<unknown[]>(
          `select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
        ),
    (busy) => busy.length === 0,
    30_000,
  );

/** Sends the requests concurrently and holds back their statements until all are answered. */
async function stall(...asked: [BalanceRequest, key?: string][]): Promise<HttpAnswer[]> {
  await reconnect(must(asked[0], 'a request was given')[0].payer);
  const { database } = stack.lines.api;
  database.set({ kind: 'hold-at', text: 'pay_from_balance' });
  const answers = await Promise.all(asked.map(([request, key]) => ask(request, key)));
  database.set({ kind: 'pass' });
  await untilQuiet();
  return answers;
}

/** Returns the id that the error message names. */
const idIn = ({ body }: HttpAnswer): string =>
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(body.message)?.[0] ?? '';

/** Checks that the request had no effect, and that the payer, who has no key, can check that and retry. */
async function expectNotMade(request: BalanceRequest, answer: HttpAnswer): Promise<void> {
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false]);
  const { token } = request.payer;
  expect((await stack.get(`/v1/transactions/${idIn(answer)}`, { token })).status).toBe(404);
  expect(await readPaid(stack, request)).toEqual(notAtAll);
  expect((await ask(request)).status).toBe(201);
  expect(await readPaid(stack, request)).toEqual({ ...wholly, keys: 0 });
}
/** Checks that the request had no effect until it is repeated with its key. */
async function expectMadeWhenRepeated(request: BalanceRequest, key: string, answer: HttpAnswer): Promise<void> {
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
  expect(answer.body.message).toContain('Idempotency-Key');
  expect(await readPaid(stack, request)).toEqual(notAtAll);
  const again = await ask(request, key);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
  expect(await readPaid(stack, request)).toEqual(wholly);
}

const bca = 1;
const ways = Object.entries(balanceWays);
const wayOf = (name: string) => must(balanceWays[name], `${name} is a way to pay`);

describe('A payment whose statement reaches the database after its request was answered', () => {
  itInFull.each(ways)(
    'Without a key, %s whose statement arrives after the 503 is not executed, and the error names its transaction',
    async (_, way) => {
      const request = await way.build(stack);
      const [answer] = await stall([request]);
      await expectNotMade(request, must(answer, 'the request was answered'));
    },
    120_000,
  );

  itInFull.each(ways)(
    'With a key, %s whose statement arrives after the 503 is not executed until it is retried',
    async (_, way) => {
      const request = await way.build(stack);
      const key = freshKey();
      const [answer] = await stall([request, key]);
      await expectMadeWhenRepeated(request, key, must(answer, 'the request was answered'));
    },
    120_000,
  );

  it('A payment whose statement arrives after the 503 is not executed until it is retried', async () => {
    const donation = await wayOf('a donation').build(stack);
    const contribution = await wayOf('a contribution to a circle').build(stack);
    const key = freshKey();
    const [unkeyed, keyed] = await stall([donation], [contribution, key]);
    await expectNotMade(donation, must(unkeyed, 'the request was answered'));
    await expectMadeWhenRepeated(contribution, key, must(keyed, 'the request was answered'));
  }, 120_000);
});

describe('A request without a key while the database stops answering', () => {
  /** Ten times the contract's limit, for a busy machine; without a limit, the server cuts the request after two minutes. */
  const soonMs = 10 * budgets.requests.away;
  const topUp = (payer: BuiltUser) =>
    ask({
      path: '/v1/payments/gateway',
      body: { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: bca, amount: 50_000 },
      payer,
    });
  async function stalledAt(text: string, payer: BuiltUser, act: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    await reconnect(payer);
    const { database } = stack.lines.api;
    database.set({ kind: 'hold-at', text });
    const askedAt = performance.now();
    const answer = await act();
    expect([text, performance.now() - askedAt < soonMs]).toEqual([text, true]);
    database.set({ kind: 'pass' });
    await untilQuiet();
    return answer;
  }

  it.each(casesOf(['opening_numbers', 'from "payment_channels"']))(
    'A top-up whose database stops answering at %s returns 503 within seconds and is not made',
    async (text) => {
      const payer = await buildPayer();
      const answer = await stalledAt(text, payer, () => topUp(payer));
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
      const { body } = await stack.get('/v1/payments/orders', { token: payer.token });
      expect(body.data.total).toBe(0);
    },
    120_000,
  );

  it('A top-up whose database stops answering once it is made returns 503 within seconds with its id', async () => {
    const payer = await buildPayer();
    const answer = await stalledAt('from "payment_orders"', payer, () => topUp(payer));
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false]);
    const { status } = await stack.get(`/v1/payments/orders/${idIn(answer)}`, { token: payer.token });
    expect(status).toBe(200);
  }, 120_000);

  it('A withdrawal whose database stops answering once it is made returns 503 within seconds with its id', async () => {
    const payer = await buildIndividual(stack, { balance: '1000000' });
    const bank_account_id = await addBankAccount(stack, payer);
    const path = `/v1/accounts/${payer.accountId}/withdrawals`;
    const body = { bank_account_id, amount: '100000' };
    const answer = await stalledAt('from "withdrawals"', payer, () => ask({ path, body, payer }));
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false]);
    expect((await stack.get(`/v1/withdrawals/${idIn(answer)}`, { token: payer.token })).status).toBe(200);
  }, 120_000);
});

describe('A payment whose PostgreSQL backend is paused', () => {
  itInFull(
    'A payment whose PostgreSQL backend is paused before the checks is not executed when it resumes',
    async () => {
      const request = await wayOf('a donation').build(stack);
      let pid = 0;
      let asked: Promise<HttpAnswer> | undefined;
      try {
        await stack.owner().transactional(async (tx) => {
          await tx.execute('lock table journal_keys in share row exclusive mode');
          asked = ask(request);
          await untilLocked(stack, { text: 'pay_from_balance' });
          const [waiting] = await stack
            .owner()
            .execute<[{ pid: number }]>(
              "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%pay_from_balance%'",
            );
          pid = waiting.pid;
          process.kill(pid, 'SIGSTOP');
        });
        const answer = await asked;
        expect([answer?.status, answer?.headers.has('retry-after')]).toEqual([503, false]);
        expect(idIn(answer as HttpAnswer)).not.toBe('');
      } finally {
        if (pid !== 0) process.kill(pid, 'SIGCONT');
      }
      await untilQuiet();
      expect(await readPaid(stack, request)).toEqual(notAtAll);
    },
    120_000,
  );
});

describe('A withdrawal without a key whose answer was lost', () => {
  it('A withdrawal without a key whose answer was lost returns 503 with its id and no Retry-After', async () => {
    const payer = await buildIndividual(stack, { balance: '1000000' });
    const bank_account_id = await addBankAccount(stack, payer);
    await reconnect(payer);
    stack.lines.api.database.set({ kind: 'cut-after', text: 'from "withdrawals"' });
    const path = `/v1/accounts/${payer.accountId}/withdrawals`;
    const answer = await ask({ path, body: { bank_account_id, amount: '100000' }, payer });
    stack.lines.api.database.set({ kind: 'pass' });
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false]);
    expect((await stack.get(`/v1/withdrawals/${idIn(answer)}`, { token: payer.token })).status).toBe(200);
  }, 120_000);
});

describe('A contribution without a key whose answer could not be read', () => {
  const contribute = (saving_circle_id: string, { token }: BuiltUser, fields: object = {}) =>
    stack.post(
      '/v1/saving-circles/contribute',
      { saving_circle_id, contribution_amount: '100000', ...fields },
      { token },
    );
  const expectNamed = async (path: string, answer: HttpAnswer | undefined, { token }: BuiltUser) => {
    expect([answer?.status, answer?.headers.has('retry-after')]).toEqual([503, false]);
    expect((await stack.get(`${path}/${idIn(answer as HttpAnswer)}`, { token })).status).toBe(200);
  };

  it('A contribution whose rows cannot be read once paid returns 503 with its transaction and no Retry-After', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    let asked: Promise<HttpAnswer> | undefined;
    await stack.holdAt('pay-from-balance.after', () => {
      asked = contribute(id, creator);
    });
    const answer = await stack.owner().transactional(async (tx) => {
      await tx.execute('set local transaction_timeout = 0');
      await tx.execute('set local idle_in_transaction_session_timeout = 0');
      await tx.execute('lock table saving_circle_contributions in access exclusive mode');
      stack.arm('');
      return asked;
    });
    await expectNamed('/v1/transactions', answer, creator);
  }, 120_000);

  it('A contribution ordered before the connection was lost returns 503 with its order and no Retry-After', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    await reconnect(creator);
    stack.lines.api.database.set({ kind: 'cut-after', text: 'from "saving_circle_contributions"' });
    const answer = await contribute(id, creator, { payment_id: bca });
    stack.lines.api.database.set({ kind: 'pass' });
    await expectNamed('/v1/payments/orders', answer, creator);
  }, 120_000);
});
