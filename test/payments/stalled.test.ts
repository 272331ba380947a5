import { type BalanceRequest, balanceWays, notAtAll, readPaid, wholly } from '../e2e/balance-ways.ts';
import type { HttpAnswer } from '../support/http.ts';
import { untilLocked } from '../support/lock-waits.ts';
import { freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

/** A database that stalls under a payment from a balance for longer than its request waits. */
let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack({ proxied: true });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop(), 60_000);
afterEach(async () => {
  stack.lines.api.database.set({ kind: 'pass' });
});

const ask = ({ path, body, payer: { token } }: BalanceRequest, key?: string): Promise<HttpAnswer> =>
  stack.post(path, body, { token, headers: key === undefined ? {} : { 'idempotency-key': key } });

/** Nothing of what was held back is under way any more. */
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

/** Sends the request and holds back its statement until it is answered; then the statement goes to the database. */
async function stall(request: BalanceRequest, key?: string): Promise<HttpAnswer> {
  const { database } = stack.lines.api;
  // Only a new connection is sent the text of a prepared statement. The API may first meet those that were cut.
  database.cut();
  await eventually(
    () => stack.get('/v1/auth/me', { token: request.payer.token }),
    ({ status }) => status === 200,
  );
  database.set({ kind: 'hold-at', text: 'pay_from_balance' });
  const answer = await ask(request, key);
  database.set({ kind: 'pass' });
  await untilQuiet();
  return answer;
}

/** The id that a payment would have, as the answer names it. */
const idIn = ({ body }: HttpAnswer): string =>
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(body.message)?.[0] ?? '';

const ways = Object.entries(balanceWays);

describe('A payment whose statement reaches the database after its request was answered', () => {
  it.each(ways)(
    'as %s is not made, and without a key its answer names its transaction',
    async (_, way) => {
      const request = await way.build(stack);
      const answer = await stall(request);
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, false]);
      const { token } = request.payer;
      expect((await stack.get(`/v1/transactions/${idIn(answer)}`, { token })).status).toBe(404);
      expect(await readPaid(stack, request)).toEqual(notAtAll);
      expect((await ask(request)).status).toBe(201);
      expect(await readPaid(stack, request)).toEqual({ ...wholly, keys: 0 });
    },
    120_000,
  );

  it.each(ways)(
    'as %s is not made, and under a key is made when it is repeated',
    async (_, way) => {
      const request = await way.build(stack);
      const key = freshKey();
      const answer = await stall(request, key);
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
      expect(answer.body.message).toContain('Idempotency-Key');
      expect(await readPaid(stack, request)).toEqual(notAtAll);
      const again = await ask(request, key);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
      expect(await readPaid(stack, request)).toEqual(wholly);
    },
    120_000,
  );
});

describe('A payment whose process in PostgreSQL is stopped', () => {
  it('before it is judged is not made when that goes on', async () => {
    const request = await (balanceWays['a donation'] as (typeof balanceWays)[string]).build(stack);
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
  }, 120_000);
});
