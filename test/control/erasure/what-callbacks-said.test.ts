import { randomUUID } from 'node:crypto';
import { redeliverCallbacks } from '../../../src/money-in/callbacks/deliver-callback.ts';
import { forgetCallbacksOf } from '../../../src/platform/callbacks/forget-bodies.ts';
import { buildOwner, withdraw, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, balanceOf, buildOrganizationAdmin, fund } from '../../support/build.ts';
import { buildOperators, type Operators } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { erase, lookNoMore } from './stranded-cause.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

const callbacksAbout = (reference: string) =>
  stack.em().execute<{ delivered: boolean; kept: boolean }[]>(
    `select delivered_at is not null as delivered, body_sealed is not null as kept from gateway_callbacks
     where lower(reference) = ? order by id`,
    [reference],
  );
const isDelivered = ({ delivered }: { delivered: boolean }) => delivered;
const isKept = ({ kept }: { kept: boolean }) => kept;
const undelivered = (reference: string) =>
  stack
    .owner()
    .execute(
      "update gateway_callbacks set delivered_at = null, received_at = now() - interval '1 minute' where reference = ?",
      [reference],
    );

/** Returns the id of a final withdrawal, with callbacks about it. */
async function withdrawn(owner: BuiltUser): Promise<string> {
  const { id } = await withdraw(stack, owner);
  await withdrawalWhen(stack, owner, id, 'succeeded');
  await lookNoMore(stack, id);
  await eventually(
    () => callbacksAbout(id),
    (rows) => rows.length > 0 && rows.every(isDelivered),
  );
  return id;
}

/** Returns the id of a paid top-up of IDR 50,000, spent since, with callbacks about it. */
async function toppedUp({ token, accountId }: BuiltUser): Promise<string> {
  const before = Number(await balanceOf(stack, accountId));
  const topUp = { reference_type: 'account_top_up', reference_id: accountId, payment_id: 1, amount: 50_000 };
  const order = (await stack.post('/v1/payments/gateway', topUp, { token })).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
  await eventually(
    () => balanceOf(stack, accountId),
    (balance) => Number(balance) === before + 50_000,
  );
  await eventually(
    () => callbacksAbout(order.payment_order_id),
    (rows) => rows.length > 0 && rows.every(isDelivered),
  );
  await fund(stack, accountId, '-50000.0000');
  return order.payment_order_id;
}

const tell = (event: string, reference: string) =>
  stack.post(
    '/v1/gateway/callbacks/xendit',
    { event, data: { id: `py-${randomUUID()}`, reference_id: reference, account_holder_name: 'Budi Santoso' } },
    { headers: { 'x-callback-token': stack.callbackToken, 'webhook-id': randomUUID() } },
  );

/** The number of withdrawals and of top-ups per person. */
const each = isFullRun() ? 2 : 1;

describe('Callbacks about an erased person', () => {
  it('An erasure deletes the bodies of callbacks about the person, undelivered and later ones included', async () => {
    const person = await buildOwner(stack, String(each * 100_000));
    const about: [reference: string, event: string][] = [];
    for (let made = 0; made < each; made++) {
      about.push([await withdrawn(person), 'payout.succeeded'], [await toppedUp(person), 'payment.succeeded']);
    }
    // Some are still undelivered, as while Temporal is down.
    for (const [reference] of isFullRun() ? about.slice(-2) : about.slice(-1)) await undelivered(reference);
    await erase(stack, operators, person);
    for (const [reference] of about) expect((await callbacksAbout(reference)).filter(isKept)).toEqual([]);
    // Later callbacks lose their bodies when they are delivered.
    for (const [reference, event] of about.slice(0, 2)) {
      const before = (await callbacksAbout(reference)).length;
      await tell(event, reference);
      await tell(event, reference.toUpperCase());
      const after = await eventually(
        () => callbacksAbout(reference),
        (rows) => rows.length === before + 2 && rows.every(isDelivered),
      );
      expect(after.filter(isKept)).toEqual([]);
    }
  }, 120_000);

  itInFull(
    'The body of a callback that the erasure missed is deleted at its delivery',
    async () => {
      const person = await buildOwner(stack, '100000');
      const id = await withdrawn(person);
      await erase(stack, operators, person);
      await stack.owner().execute("update gateway_callbacks set body_sealed = 'sealed' where reference = ?", [id]);
      await undelivered(id);
      await redeliverCallbacks(stack.em(), stack.deps, () => undefined);
      expect((await callbacksAbout(id)).filter((row) => isKept(row) || !isDelivered(row))).toEqual([]);
    },
    120_000,
  );
});

describe('Callbacks about an organization', () => {
  it('Callbacks about an organization’s withdrawals keep their bodies when the requesting user is erased', async () => {
    const admin = await buildOrganizationAdmin(stack);
    await fund(stack, admin.accountId, '100000.0000');
    const id = await withdrawn(admin);
    await forgetCallbacksOf(stack.em(), admin.id);
    expect((await callbacksAbout(id)).every(isKept)).toBe(true);
  }, 60_000);
});
