import { randomUUID } from 'node:crypto';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { reconcileOn } from '../../control/reconciliation/reconcile-on.ts';
import { backUp, restore } from '../../control/reconciliation/restore.ts';
import { atProvider } from '../../support/at-provider.ts';
import { approve, buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { holdTable } from '../../support/hold-table.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildPaid, refund, refundWhen } from '../refunds/build-refunds.ts';
import { buildSuspended, describeBeyondOurs } from './beyond-ours.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  settleAtProvider,
  transferElsewhere,
  transfersOf,
} from './build-payouts.ts';

/** Each transfer at the provider is in the books once, whoever booked it first and whatever happens later. */
let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
/** Of IDR 100,000 the bank gets 97,500; the provider charges 1,000. */
const fees = [
  { method: 'payout', fixed: '2500', basis_points: 0, provider_fixed: '1000', provider_basis_points: 0 },
  { method: 'ewallet', fixed: '0', basis_points: 0 },
];
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPayer(stack, { fees });
  operators = await buildOperators(stack);
  await backUp(stack.owner());
}, 120_000);
afterEach(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const token = () => ({ token: operators.proposer.token });
const stuckAbout = async (id: string) => {
  const { body } = await stack.get('/v1/payouts/stuck?minutes=0&limit=100', token());
  return body.data.items.filter((item: object) => JSON.stringify(item).includes(id));
};
const stuckWhen = (id: string, count = 1) =>
  eventually(
    () => stuckAbout(id),
    (items) => items.length === count,
    60_000,
  );
const saidOf = (id: string, word: string) =>
  eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
    ([row]) => row?.word === word,
    60_000,
  );
const systemBalances = async () => {
  const [row] = await stack.em().execute<{ clearing: string; cost: string; loss: string }[]>(
    `select account_balance(?)::text as clearing, account_balance(?)::text as cost,
       (select account_balance(id)::text from accounts where kind = 'loss') as loss`,
    [systemAccounts.gatewayClearing, systemAccounts.providerCost],
  );
  return { clearing: Number(row?.clearing), cost: Number(row?.cost), loss: Number(row?.loss) };
};
/** The changes since `before` was read. */
const changeSince = async (before: { clearing: number; cost: number; loss: number }) => {
  const now = await systemBalances();
  return { clearing: now.clearing - before.clearing, cost: now.cost - before.cost, loss: now.loss - before.loss };
};
const transferOf = async (id: string): Promise<string> => {
  const [row] = await stack
    .em()
    .execute<{ id: string }[]>('select provider_transfer_id as id from payouts where id = ?', [id]);
  return row?.id ?? '';
};
const cancel = async (transfer: string) => {
  const { status } = await stack.sandbox.post(`/v2/payouts/${transfer}/cancel`, undefined, {
    headers: { authorization: `Basic ${Buffer.from(`${stack.env.XENDIT_SECRET_KEY}:`).toString('base64')}` },
  });
  expect(status).toBe(200);
};
/** A payout that two people settled as failed while the provider had accepted it. */
async function buildEnded(payer: BuiltPartner): Promise<{ id: string; transfer: string }> {
  const { id } = await pay(payer, { bank_account_number: magicAccount('131313') });
  await saidOf(id, 'accepted');
  await ageAttempts(stack, id, 2);
  const decided = await decide(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
  expect(decided).toMatchObject({ status: 'carried_out' });
  return { id, transfer: await transferOf(id) };
}
/** Makes a second transfer under a payout's reference; returns its id once it has succeeded. */
async function transferTwice(id: string, amount = 97_500): Promise<string> {
  const second = await transferElsewhere(stack, id, '111111', amount);
  await eventually(
    () => transfersOf(stack, id),
    (transfers) => transfers.some(({ status, ...made }) => status === 'SUCCEEDED' && made.amount === amount),
  );
  return second;
}
const book = (named: { payout_id: string } | { provider_reference: string }) =>
  decide(stack, operators, { kind: 'book_transfer', ...named });
const refuses = async (named: object) => (await propose(stack, operators, { kind: 'book_transfer', ...named })).status;

// Runs first, because it counts differences.
describe('Transfers that no payout requested', () => describeBeyondOurs(() => stack));

it('A booked transfer is credited to its source if the bank returns it, and can be booked again', async () => {
  const payer = await buildPayer(stack, { fees });
  const before = await systemBalances();
  const { id } = await pay(payer, { bank_account_number: magicAccount('999999') });
  await payoutWhen(payer, id, 'failed');
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await saidOf(id, 'succeeded');
  expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
  expect((await readBalance(payer)).available).toBe('902500.0000');
  expect(await changeSince(before)).toEqual({ clearing: 98_500, cost: -1000, loss: 0 });
  await settleAtProvider(stack, id, 'REVERSED');
  await saidOf(id, 'reversed');
  expect((await readBalance(payer)).available).toBe('1000000.0000');
  expect(await changeSince(before)).toEqual({ clearing: 1000, cost: -1000, loss: 0 });
  expect(await readPayout(payer, id)).toMatchObject({ status: 'failed', booked_at: null });
  await stuckWhen(id, 0);
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await stuckWhen(id);
  expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
  expect((await readBalance(payer)).available).toBe('902500.0000');
  await stuckWhen(id, 0);
}, 120_000);

it('A returned payout can be booked if the provider then reports it as succeeded', async () => {
  const payer = await buildPayer(stack, { fees });
  const { id } = await pay(payer, { bank_account_number: magicAccount('131313') });
  await saidOf(id, 'accepted');
  await settleAtProvider(stack, id, 'REVERSED');
  await payoutWhen(payer, id, 'reversed');
  expect((await readBalance(payer)).available).toBe('997500.0000');
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await stuckWhen(id);
  const before = await systemBalances();
  expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
  expect((await readBalance(payer)).available).toBe('900000.0000');
  expect(await changeSince(before)).toEqual({ clearing: 97_500, cost: 0, loss: 0 });
  expect(await readPayout(payer, id)).toMatchObject({ status: 'reversed', booked_at: expect.any(String) });
}, 120_000);

it('An approval queries the provider again and does not book a transfer returned since', async () => {
  const before = await systemBalances();
  const reference = `elsewhere-${randomUUID()}`;
  const unknown = await transferElsewhere(stack, reference, '111111');
  await stuckWhen(unknown);
  const proposal = { kind: 'book_transfer', provider_reference: unknown };
  const { id } = (await propose(stack, operators, proposal)).body.data;
  await settleAtProvider(stack, reference, 'REVERSED');
  const { body } = await approve(stack, operators, id);
  expect(body.data).toMatchObject({ status: 'refused' });
  expect(await changeSince(before)).toEqual({ clearing: 0, cost: 0, loss: 0 });
  await stuckWhen(unknown, 0);
}, 120_000);

it('An unknown transfer booked as a loss is credited when the bank returns it', async () => {
  const before = await systemBalances();
  const reference = `elsewhere-${randomUUID()}`;
  const unknown = await transferElsewhere(stack, reference, '111111');
  await stuckWhen(unknown);
  expect(await book({ provider_reference: reference })).toMatchObject({ status: 'carried_out' });
  expect(await changeSince(before)).toEqual({ clearing: 100_000, cost: 0, loss: -100_000 });
  await settleAtProvider(stack, reference, 'REVERSED');
  await eventually(
    () => changeSince(before),
    ({ clearing, loss }) => clearing === 0 && loss === 0,
    60_000,
  );
  expect((await reconcileOn(stack)).open).toBe(0);
}, 120_000);

it('A second transfer booked as a loss is booked once if its payout then succeeds through it', async () => {
  const payer = await buildPayer(stack, { fees });
  const before = await systemBalances();
  const { id } = await pay(payer, { bank_account_number: magicAccount('131313') });
  await saidOf(id, 'accepted');
  const first = await transferOf(id);
  const second = await transferElsewhere(stack, id, '111111', 97_500);
  await stuckWhen(second);
  expect(await book({ provider_reference: second })).toMatchObject({ status: 'carried_out' });
  expect(await changeSince(before)).toEqual({ clearing: 98_500, cost: -1000, loss: -97_500 });
  await cancel(first);
  await payoutWhen(payer, id, 'succeeded');
  expect(await transferOf(id)).toBe(second);
  expect(await changeSince(before)).toEqual({ clearing: 98_500, cost: -1000, loss: 0 });
  expect(await refuses({ provider_reference: second })).toBe(404);
  await stuckWhen(second, 0);
}, 120_000);

it('An unknown transfer stays a difference while the provider does not list it among the day’s records', async () => {
  const reference = `elsewhere-${randomUUID()}`;
  const unknown = await transferElsewhere(stack, reference, '111111');
  await stuckWhen(unknown);
  const listing: Gateway['listRecords'] = async function* () {
    yield [];
  };
  await reconcileOn(stack, { by: { ...stack.deps.gateways.of('xendit'), listRecords: listing } });
  expect(await stuckAbout(unknown)).toHaveLength(1);
  await settleAtProvider(stack, reference, 'FAILED');
  await stuckWhen(unknown, 0);
}, 120_000);

it('An unknown transfer that a comparison finds while two people book it is resolved', async () => {
  const unknown = await transferElsewhere(stack, `elsewhere-${randomUUID()}`, '111111');
  await stuckWhen(unknown);
  const { id } = (await propose(stack, operators, { kind: 'book_transfer', provider_reference: unknown })).body.data;
  const both: Promise<unknown>[] = [];
  {
    await using _ = await holdTable(stack, 'account_balances');
    both.push(approve(stack, operators, id));
    await untilLocked(stack, { text: 'book_transfer' });
    both.push(reconcileOn(stack));
    await untilLocked(stack, { text: 'keep_difference' });
  }
  expect(await Promise.all(both)).toMatchObject([{ body: { data: { status: 'carried_out' } } }, {}]);
  expect(await stuckAbout(unknown)).toEqual([]);
}, 120_000);

it('Explaining a second transfer does not explain that its failed payout was made', async () => {
  const payer = await buildPayer(stack, { fees });
  const { id } = await buildEnded(payer);
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await saidOf(id, 'succeeded');
  const second = await transferTwice(id);
  const [difference] = await eventually(
    () =>
      stack
        .em()
        .execute<{ id: string; theirs: { status: string } }[]>(
          'select id, theirs from reconciliations where subject = ?',
          [second],
        ),
    ([found]) => found?.theirs.status === 'succeeded',
    60_000,
  );
  const explanation = { kind: 'explain_difference', reconciliation_id: difference?.id };
  expect(await propose(stack, operators, explanation)).toMatchObject({ body: { data: { status: 'carried_out' } } });
  await stuckWhen(second, 0);
  await stuckWhen(id);
  expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
}, 120_000);

it('Booking a second transfer does not deadlock with a query of its payout', async () => {
  const { id } = await pay(partner);
  await payoutWhen(partner, id, 'succeeded');
  const second = await transferElsewhere(stack, id);
  await settleAtProvider(stack, id, 'SUCCEEDED');
  await stuckWhen(second);
  const proposal = { kind: 'book_transfer', provider_reference: second };
  const proposed = await propose(stack, operators, proposal);
  expect(proposed).toMatchObject({ status: 201 });
  let approving: Promise<Response> | undefined;
  await stack.owner().transactional(async (asking) => {
    await asking.execute('select from payouts where id = ? for update', [id]);
    // Sent without a client's retries, which would hide the 503 of a deadlock.
    approving = fetch(`${stack.url}/v1/decisions/${proposed.body.data.id}/approve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operators.approver.token}` },
    });
    await untilLocked(stack, { text: 'book_transfer' });
    // What a query does if the provider still lists the transfer.
    await asking.execute('update reconciliations set met_at = now() where subject = ?', [second]);
  });
  expect((await approving)?.status).toBe(200);
}, 120_000);

itInFull(
  'A loss booked for a second transfer is reversed once the transfer matches a failed payout',
  async () => {
    const payer = await buildPayer(stack, { fees });
    const { id, transfer: first } = await buildEnded(payer);
    const before = await systemBalances();
    const second = await transferTwice(id);
    await stuckWhen(second);
    expect(await book({ provider_reference: second })).toMatchObject({ status: 'carried_out' });
    await cancel(first);
    await saidOf(id, 'succeeded');
    expect(await changeSince(before)).toEqual({ clearing: 0, cost: 0, loss: 0 });
    await stuckWhen(id);
    expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
    expect(await changeSince(before)).toEqual({ clearing: 98_500, cost: -1000, loss: 0 });
    expect((await readBalance(payer)).available).toBe('902500.0000');
    await stuckWhen(id, 0);
  },
  120_000,
);

itInFull(
  'A payout can be booked again if its booked transfer fails while a second one is live',
  async () => {
    const payer = await buildPayer(stack, { fees });
    const { id, transfer: first } = await buildEnded(payer);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await saidOf(id, 'succeeded');
    expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
    const second = await transferElsewhere(stack, id, '111111', 97_500);
    await stuckWhen(second);
    atProvider(stack, "update transfers set document = json_set(document, '$.status', 'FAILED') where id = ?", [first]);
    await stack.deps.workflows.hintPayout({ id, kind: 'partner_payout' });
    await eventually(
      () => readPayout(payer, id),
      ({ booked_at }) => booked_at === null,
    );
    expect((await readBalance(payer)).available).toBe('1000000.0000');
    await stuckWhen(id);
    expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
    expect((await readBalance(payer)).available).toBe('902500.0000');
  },
  120_000,
);

it('A failed payout sent with the wrong amount debits its source by at most the payout’s amount', async () => {
  const amounts = [
    [150_000, -52_500],
    [60_000, 0],
  ] as const;
  for (const [amount, lost] of casesOf(amounts)) {
    const payer = await buildPayer(stack, { fees });
    const { id } = await pay(payer, { bank_account_number: magicAccount('999999') });
    await payoutWhen(payer, id, 'failed');
    const before = await systemBalances();
    await transferTwice(id, amount);
    await saidOf(id, 'another amount');
    await stuckWhen(id);
    expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
    expect(await changeSince(before)).toEqual({ clearing: amount + 1000, cost: -1000, loss: lost });
    expect((await readBalance(payer)).available).toBe(`${1_000_000 - amount - lost}.0000`);
    await stuckWhen(id, 0);
  }
}, 120_000);

it('A returned payout whose transfer then failed, and that was made again in another amount, can be booked', async () => {
  const payer = await buildPayer(stack, { fees });
  const { id } = await pay(payer, { bank_account_number: magicAccount('654321') });
  await payoutWhen(payer, id, 'reversed');
  const before = await systemBalances();
  await settleAtProvider(stack, id, 'FAILED');
  await saidOf(id, 'failed');
  await transferTwice(id, 60_000);
  await saidOf(id, 'another amount');
  await stuckWhen(id);
  expect(await book({ payout_id: id })).toMatchObject({ status: 'carried_out' });
  expect(await changeSince(before)).toEqual({ clearing: 60_000, cost: 0, loss: 0 });
  expect((await readBalance(payer)).available).toBe('937500.0000');
  await stuckWhen(id, 0);
}, 120_000);

describe('After a restore to before a payout was created', () => {
  /** The payout created with this key, which now exists only at the provider. */
  async function buildForgotten(key: string): Promise<{ id: string; transfer: string }> {
    const { id } = await pay(partner, {}, key);
    await payoutWhen(partner, id, 'succeeded');
    const transfer = await transferOf(id);
    await restore(stack.owner());
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await stuckWhen(transfer);
    return { id, transfer };
  }

  itInFull(
    'A payout created again after a restore takes over its transfer booked as a loss',
    async () => {
      const key = freshKey();
      const { id, transfer } = await buildForgotten(key);
      const before = await systemBalances();
      expect(await book({ provider_reference: transfer })).toMatchObject({ status: 'carried_out' });
      await pay(partner, {}, key);
      await payoutWhen(partner, id, 'succeeded');
      expect(await changeSince(before)).toEqual({ clearing: 98_500, cost: -1000, loss: 0 });
    },
    120_000,
  );

  it('A payout created again after a restore takes over its transfer named by the refund of a receipt', async () => {
    const key = freshKey();
    const { id, transfer } = await buildForgotten(key);
    const receipt_id = await buildSuspended(stack, partner, 97_500);
    const refund = { kind: 'settle_receipt', action: 'refund', receipt_id, provider_reference: transfer };
    expect(await decide(stack, operators, refund)).toMatchObject({ status: 'carried_out' });
    await pay(partner, {}, key);
    await payoutWhen(partner, id, 'succeeded');
    const events = await stack
      .em()
      .execute<unknown[]>(
        "select from events where event = 'TRANSFER_UNBOOKED' and resource_id = ? and impact = 'HIGH'",
        [receipt_id],
      );
    expect(events).toHaveLength(1);
  }, 120_000);

  itInFull(
    'A transfer matched by a retried payout after a restore is no longer unknown or bookable',
    async () => {
      const key = freshKey();
      const { id, transfer } = await buildForgotten(key);
      await pay(partner, {}, key);
      await payoutWhen(partner, id, 'succeeded');
      await stuckWhen(transfer, 0);
      expect(await refuses({ provider_reference: transfer })).toBe(404);
    },
    120_000,
  );

  itInFull(
    'An unknown refund to a wallet can be booked after a restore',
    async () => {
      const paymentId = await buildPaid(stack, partner, { amount: '50000' });
      const made = await refund(partner, paymentId, { amount: '20000' });
      await refundWhen(partner, made, 'succeeded');
      const transfer = await transferOf(made.id);
      await restore(stack.owner());
      await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: made.id, status: 'SUCCEEDED' });
      await stuckWhen(transfer);
      const before = await systemBalances();
      expect(await book({ provider_reference: made.id })).toMatchObject({ status: 'carried_out' });
      expect(await changeSince(before)).toEqual({ clearing: 20_000, cost: 0, loss: -20_000 });
    },
    120_000,
  );
});
