import { payAsAsked } from '../../../src/money-in/payments/pay-as-asked.ts';
import { createPayTogether } from '../../../src/money-in/payments/pay-from-balance.ts';
import type { ReferenceType } from '../../../src/money-in/payments/payment-order.ts';
import type { BalancePaymentRequest } from '../../../src/money-in/payments/present-order.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { buildActiveCircle } from '../../circles/build-circle.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganization,
  buildPlatformAdmin,
  buildRole,
} from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct } from '../../support/build-targets.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  admin = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const keys = isFullRun() ? 60 : 2;
const twins = 8;

/** The body as a client sends it. */
type AskedPayment = Omit<BalancePaymentRequest, 'amount'> & { amount: number };
interface Request<Body extends object = object> {
  path: string;
  body: Body;
}
const ask = ({ path, body }: Request, payer: BuiltUser, key: string) =>
  stack.post(path, body, { token: payer.token, headers: { 'idempotency-key': key } });
/** Sends the request to another API, whose payments are batched separately from those of this one. */
async function askAnotherApi({ body }: Request<AskedPayment>, payer: BuiltUser, key: string) {
  const { deps } = stack;
  const caller = must(await deps.findCaller(await deps.tokens.verify(payer.token)), 'the payer exists');
  const there = { ...deps, payTogether: createPayTogether(deps.orm) };
  const paid = await payAsAsked(
    stack.em(),
    there,
    { ...body, amount: String(body.amount) },
    { caller, key, requestId: newId() },
  );
  return { status: paid.status, body: JSON.parse(paid.body) };
}
const payment = (
  payer: BuiltUser,
  reference_type: ReferenceType,
  reference_id: string,
  amount = 1000,
): Request<AskedPayment> => ({
  path: '/v1/payments/balance',
  body: { reference_type, reference_id, source_account_id: payer.accountId, amount },
});
const openPocket = async ({ token }: BuiltUser): Promise<string> =>
  (await stack.post('/v1/accounts', { name: 'Pocket' }, { token })).body.data.id;

/** Payments after which a duplicate would be refused, by their effect; each with the payer's balance before. */
const lastPayments: [name: string, balance: string, build: (payer: BuiltUser) => Promise<Request>][] = [
  [
    'completes a saving goal',
    '5000',
    async (payer) => payment(payer, 'saving_goal_contribution', (await buildGoal(stack, payer, '1000')).id),
  ],
  [
    'completes a product',
    '5000',
    async (payer) =>
      payment(payer, 'investment', (await buildProduct(stack, admin, { kind: 'investment', target: '1000' })).id),
  ],
  [
    'empties the balance',
    '1000',
    async (payer) => payment(payer, 'investment', (await buildProduct(stack, admin, { kind: 'investment' })).id),
  ],
  [
    'empties a pocket into another',
    '1000',
    async (payer) => ({
      path: `/v1/accounts/${payer.accountId}/transfers`,
      body: { destination_account_id: await openPocket(payer), amount: '1000' },
    }),
  ],
];

/** Sends the same request many times concurrently: all get the same answer, which matches the books. */
async function sendTwins(payer: BuiltUser, request: Request, before: string): Promise<void> {
  const key = freshKey();
  const answers = await Promise.all(Array.from({ length: twins }, () => ask(request, payer, key)));
  const told = new Set(answers.map(({ status, body }) => JSON.stringify([status, body])));
  expect([...told]).toEqual([expect.stringMatching(/^\[201,/)]);
  const { body } = answers[0] as HttpAnswer;
  expect(await balanceOf(stack, payer.accountId)).toBe(body.data.new_balance);
  expect(Number(before) - Number(body.data.new_balance)).toBe(Number(body.data.amount));
}

describe('A retry of a completed payment', () => {
  it.each(lastPayments)(
    'A retry of a completed payment is never refused because the payment %s',
    async (_, balance, build) => {
      for (let n = 0; n < keys; n += 1) {
        const payer = await buildIndividual(stack, { balance });
        await sendTwins(payer, await build(payer), balance);
      }
    },
  );

  it('A retry of a completed circle contribution is never refused as a second contribution', async () => {
    const { id, members } = await buildActiveCircle(stack, isFullRun() ? 3 : 2);
    for (const payer of members)
      await sendTwins(payer, payment(payer, 'saving_circle_contribution', id, 100_000), '1000000');
  });

  it('A retry of a completed payment is never refused because its payer has lost the permission', async () => {
    const { payer, role } = await buildPermitted();
    const request = payment(payer, 'saving_goal_contribution', (await buildGoal(stack, payer)).id);
    const key = freshKey();
    const first = await ask(request, payer, key);
    await permit(role, false);
    expect([first.status, await ask(request, payer, key)]).toMatchObject([201, { status: 201, body: first.body }]);
    expect((await ask(request, payer, freshKey())).status).toBe(403);
  });
});

/** A payer who may contribute to saving goals by a custom role. */
async function buildPermitted(): Promise<{ payer: BuiltUser; role: string }> {
  const organizationId = await buildOrganization(stack);
  const { id, name } = await buildRole(stack, { organizationId, permissions: ['contribute-saving-goal'] });
  return { role: id, payer: await buildIndividual(stack, { organizationId, role: name, balance: '5000' }) };
}

const permit = (role: string, permitted: boolean) =>
  stack
    .em()
    .execute(
      permitted
        ? "insert into role_permissions (role_id, permission_id) select ?, id from permissions where name = 'contribute-saving-goal'"
        : 'delete from role_permissions where role_id = ?',
      [role],
    );

/** Runs `during` while a transaction holds a lock; releases the lock when it resolves. */
function whileHeld<T>(lock: string, params: unknown[], during: () => Promise<T>): Promise<T> {
  return stack.owner().transactional(async (tx) => {
    await tx.execute(lock, params);
    return during();
  });
}

describe('A delayed payment', () => {
  it('A payment delayed before it stores its key is refused like its retry, and the key is free again', async () => {
    const { payer, role } = await buildPermitted();
    const request = payment(payer, 'saving_goal_contribution', (await buildGoal(stack, payer)).id);
    const key = freshKey();
    const { first, retry } = await whileHeld('lock table saving_goals in access exclusive mode', [], async () => {
      const sent = ask(request, payer, key);
      await untilLocked(stack, { text: 'from saving_goals' });
      await permit(role, false);
      return { first: sent, retry: await ask(request, payer, key) };
    });
    expect([retry.status, await first]).toMatchObject([403, { status: 403, body: { message: retry.body.message } }]);
    expect(await balanceOf(stack, payer.accountId)).toBe('5000.0000');
    await permit(role, true);
    expect((await ask(request, payer, key)).status).toBe(201);
    expect(await balanceOf(stack, payer.accountId)).toBe('4000.0000');
  });

  it('A payment delayed before it locks its account returns the same refusal as its retry', async () => {
    const payer = await buildIndividual(stack, { balance: '5000' });
    const goal = await buildGoal(stack, payer, '1000');
    const pocket = await openPocket(payer);
    await stack.post(
      `/v1/accounts/${payer.accountId}/transfers`,
      { destination_account_id: pocket, amount: '1000' },
      { token: payer.token },
    );
    const request = payment(payer, 'saving_goal_contribution', goal.id);
    const key = freshKey();
    const { first, retry } = await whileHeld(
      'select 1 from account_balances where account_id = ? for update',
      [payer.accountId],
      async () => {
        const waiting = ask(request, payer, key);
        await untilLocked(stack, { text: 'lock_source' });
        const other = { ...request, body: { ...request.body, source_account_id: pocket } };
        expect((await ask(other, payer, freshKey())).status).toBe(201);
        return { first: waiting, retry: await ask(request, payer, key) };
      },
    );
    expect([retry.status, await first]).toMatchObject([400, { status: 400, body: { message: retry.body.message } }]);
    expect(await balanceOf(stack, payer.accountId)).toBe('4000.0000');
  });

  it('A payment delayed after it stores its key decides its retry’s response, whatever changed since', async () => {
    const payer = await buildIndividual(stack, { balance: '5000' });
    const cause = await buildActiveCause(stack);
    const request = payment(payer, 'charitable_cause_donate', cause.id);
    const key = freshKey();
    const setStatus = (status: string) =>
      stack.owner().execute('update charitable_causes set status = ? where id = ?', [status, cause.id]);
    const sent = await whileHeld('lock table journal_keys in share row exclusive mode', [], async () => {
      const first = askAnotherApi(request, payer, key);
      await untilLocked(stack, { text: 'pay_from_balance' });
      await setStatus('cancelled');
      const retry = ask(request, payer, key);
      await untilLocked(stack, { text: 'insert into requests' });
      await setStatus('active');
      return [first, retry] as const;
    });
    const [first, retry] = await Promise.all(sent);
    expect([first.status, retry.status]).toEqual([201, 201]);
    expect(retry.body.data).toEqual(first.body.data);
    expect(await balanceOf(stack, payer.accountId)).toBe('4000.0000');
  });
});

describe('A refusal', () => {
  it('A refusal stored for one body is not replayed to another body with the same key', async () => {
    const payer = await buildIndividual(stack, { balance: '5000' });
    const goal = await buildGoal(stack, payer);
    const key = freshKey();
    const type = 'saving_goal_contribution';
    expect((await ask(payment(payer, type, goal.id, 6000), payer, key)).status).toBe(400);
    expect((await ask(payment(payer, type, goal.id, 1000), payer, key)).status).toBe(201);
    expect((await ask(payment(payer, type, goal.id, 6000), payer, key)).body.message).toContain('Idempotency-Key');
  });

  it('A refusal is stored for thirty days, and not at all without an Idempotency-Key', async () => {
    const payer = await buildIndividual(stack);
    const goal = await buildGoal(stack, payer);
    const kept = () =>
      stack.em().execute('select 1 from requests where owner_id = ? and refusal is not null', [payer.id]);
    const { path, body } = payment(payer, 'saving_goal_contribution', goal.id);
    expect((await stack.post(path, body, { token: payer.token })).status).toBe(400);
    expect(await kept()).toEqual([]);
    expect((await ask({ path, body }, payer, freshKey())).status).toBe(400);
    await forgetOldRows(stack.em());
    expect(await kept()).toHaveLength(1);
    await stack
      .owner()
      .execute("update requests set decided_at = now() - interval '31 days' where owner_id = ?", [payer.id]);
    await forgetOldRows(stack.em());
    expect(await kept()).toEqual([]);
  });
});
