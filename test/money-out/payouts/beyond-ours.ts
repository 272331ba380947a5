import { randomUUID } from 'node:crypto';
import { reconcileOn, statusOfReconcile } from '../../control/reconciliation/reconcile-on.ts';
import { approve, buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, type Stack } from '../../support/stack.ts';
import { suspendedUnder } from '../../support/suspended-receipt.ts';
import { buildOwner, withdraw, withdrawalWhen } from '../withdrawals/build-withdrawals.ts';
import {
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
  settleAtProvider,
  transferElsewhere,
} from './build-payouts.ts';

/** Transfers at the provider that no payout requested. */
let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;

const token = () => operators.proposer.token;
const differenceOf = async (providerId: string) => {
  const { body } = await stack.get('/v1/reconciliations?limit=100', { token: token() });
  return body.data.items.find((item: { provider_id: string }) => item.provider_id === providerId);
};
const differenceWhen = (providerId: string) =>
  eventually(
    () => differenceOf(providerId),
    (difference) => difference !== undefined,
    30_000,
  );
const stuckOf = async (providerId: string) => {
  const { body } = await stack.get('/v1/payouts/stuck?limit=100', { token: token() });
  return body.data.items.find((item: { provider_id: string }) => item.provider_id === providerId);
};
const eventsAbout = (id: string) =>
  stack
    .em()
    .execute<{ impact: string; data: object }[]>('select impact, data from events where resource_id = ? order by id', [
      id,
    ]);
const reconcile = () => reconcileOn(stack);
const lossOf = async () => {
  const [row] = await stack
    .em()
    .execute<{ loss: string }[]>(
      "select account_balance(id)::numeric(20, 4)::text as loss from accounts where kind = 'loss'",
    );
  return Number(row?.loss);
};

/** The platform's own money: revenue less the provider's cost. */
const ownMoney = async () => {
  const [row] = await stack
    .em()
    .execute<{ own: string }[]>(
      "select sum(account_balance(id))::numeric(20, 4)::text as own from accounts where kind in ('fee_revenue', 'provider_cost')",
    );
  return Number(row?.own);
};

/** Pays a partner's payment with a wrong amount; returns the id of the suspended receipt. */
export async function buildSuspended(place: Stack, payee: BuiltPartner, amount: number): Promise<string> {
  const body = { method: 'virtual_account', channel: 'BCA', amount: '250000' };
  const { id, payment_code } = (await payee.post('/payments', body, freshKey())).body.data;
  await place.sandbox.post('/sandbox/pay', { payment_code, amount });
  return suspendedUnder(place, id);
}

/** Creates money in suspense and a transfer that refunded it; returns the proposal to record that refund. */
async function buildRefund() {
  const receipt_id = await buildSuspended(stack, partner, 100_000);
  const reference = `refund-${randomUUID()}`;
  const transfer = await transferElsewhere(stack, reference, '111111');
  await eventually(
    () => differenceOf(transfer),
    (difference) => difference?.theirs.status === 'succeeded',
    30_000,
  );
  return { refund: { kind: 'settle_receipt', action: 'refund', receipt_id }, reference, transfer };
}

/** Declares these tests on a stack that the caller starts and stops and that has no differences yet. */
export function describeBeyondOurs(place: () => Stack): void {
  beforeAll(async () => {
    stack = place();
    partner = await buildPayer(stack);
    operators = await buildOperators(stack);
  }, 60_000);

  it('A second live transfer with a payout’s reference is reported as a difference and booked as a loss', async () => {
    const { id } = await pay(partner);
    await payoutWhen(partner, id, 'succeeded');
    const second = await transferElsewhere(stack, id);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    const difference = await differenceWhen(second);
    expect(difference).toMatchObject({ kind: 'DOUBLE_TRANSFER', state: 'open', resource_id: id, reference: id });
    expect(await eventsAbout(difference.id)).toMatchObject([
      { impact: 'HIGH', data: { kind: 'DOUBLE_TRANSFER', provider_id: second } },
    ]);
    expect(await stuckOf(second)).toMatchObject({ payout_id: id, reason: expect.stringContaining('DOUBLE_TRANSFER') });
    expect((await reconcile()).open).toBe(1);
    if (isFullRun()) expect(await statusOfReconcile(stack)).toBe(1);
    const before = await lossOf();
    const decision = await decide(stack, operators, { kind: 'book_transfer', provider_reference: second });
    expect(decision).toMatchObject({ status: 'carried_out' });
    expect((await lossOf()) - before).toBe(-100_000);
    expect(await differenceOf(second)).toMatchObject({ state: 'resolved' });
    expect((await reconcile()).open).toBe(0);
    if (isFullRun()) expect(await statusOfReconcile(stack)).toBe(0);
    expect(await stuckOf(second)).toBeUndefined();
  }, 120_000);

  it('A transfer with an unknown reference is reported as a difference when its callback arrives', async () => {
    const reference = `elsewhere-${randomUUID()}`;
    const unknown = await transferElsewhere(stack, reference, '111111');
    const difference = await differenceWhen(unknown);
    expect(difference).toMatchObject({ kind: 'UNKNOWN_TRANSFER', state: 'open', resource_id: null, ours: null });
    expect(await eventsAbout(difference.id)).toMatchObject([{ impact: 'HIGH' }]);
    expect(await stuckOf(unknown)).toMatchObject({ payout_id: null, reason: expect.stringContaining(unknown) });
    const twice = await propose(stack, operators, { kind: 'book_transfer', provider_reference: 'nothing' });
    expect(twice.status).toBe(404);
    const decision = await decide(stack, operators, { kind: 'book_transfer', provider_reference: reference });
    expect(decision).toMatchObject({ status: 'carried_out' });
    expect(await differenceOf(unknown)).toMatchObject({ state: 'resolved' });
  }, 120_000);

  it('A transfer with a payment’s reference is reported as unknown when its callback arrives', async () => {
    const { id } = (await partner.post('/payments', { method: 'qris', amount: '50000' }, freshKey())).body.data;
    const unknown = await transferElsewhere(stack, id, '111111');
    expect(await differenceWhen(unknown)).toMatchObject({ kind: 'UNKNOWN_TRANSFER', state: 'open', reference: id });
    const decision = await decide(stack, operators, { kind: 'book_transfer', provider_reference: unknown });
    expect(decision).toMatchObject({ status: 'carried_out' });
    expect(await differenceOf(unknown)).toMatchObject({ state: 'resolved' });
  }, 120_000);

  it('A transfer of the platform is booked once, by the decision naming it, and reversed if returned', async () => {
    const top = { kind: 'book_external', amount: '100000', reference: `top-up ${randomUUID()}` };
    expect(await decide(stack, operators, top)).toMatchObject({ status: 'carried_out' });
    const reference = `own-${randomUUID()}`;
    const own = await transferElsewhere(stack, reference, '111111');
    await differenceWhen(own);
    const before = await ownMoney();
    const withdrawal = { kind: 'book_external', amount: '-100000', reference: own };
    expect(await decide(stack, operators, withdrawal)).toMatchObject({ status: 'carried_out' });
    expect((await ownMoney()) - before).toBe(-100_000);
    expect(await differenceOf(own)).toMatchObject({ state: 'resolved' });
    expect(await stuckOf(own)).toBeUndefined();
    expect((await propose(stack, operators, { kind: 'book_transfer', provider_reference: own })).status).toBe(404);
    expect((await reconcile()).open).toBe(0);
    await settleAtProvider(stack, reference, 'REVERSED');
    expect(await eventually(ownMoney, (money) => money === before, 30_000)).toBe(before);
    expect((await propose(stack, operators, withdrawal)).status).toBe(400);
  }, 120_000);

  it('An unknown transfer booked as a loss cannot be booked again as the platform’s own', async () => {
    const unknown = await transferElsewhere(stack, `elsewhere-${randomUUID()}`, '111111');
    await differenceWhen(unknown);
    const booking = { kind: 'book_transfer', provider_reference: unknown };
    expect(await decide(stack, operators, booking)).toMatchObject({ status: 'carried_out' });
    const { status, body } = await propose(stack, operators, {
      kind: 'book_external',
      amount: '-100000',
      reference: unknown,
    });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('already booked') },
    });
  }, 120_000);

  it('A transfer that refunded money in suspense is booked once, by the decision that names it', async () => {
    const { refund, reference, transfer } = await buildRefund();
    const unnamed = await propose(stack, operators, refund);
    expect(unnamed).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(`provider_reference: is required.*${transfer}`) },
    });
    const other = { ...refund, receipt_id: await buildSuspended(stack, partner, 99_000), provider_reference: transfer };
    expect((await propose(stack, operators, other)).status).toBe(400);

    // Of two decisions that name the transfer, one books it.
    const booking = await propose(stack, operators, { kind: 'book_transfer', provider_reference: reference });
    expect(booking.status).toBe(201);
    const [loss, decided] = [
      await lossOf(),
      await decide(stack, operators, { ...refund, provider_reference: reference }),
    ];
    expect(decided).toMatchObject({ status: 'carried_out', evidence: { books: { transfer_id: transfer } } });
    expect((await approve(stack, operators, booking.body.data.id)).body.data).toMatchObject({ status: 'refused' });
    expect(await differenceOf(transfer)).toMatchObject({ state: 'resolved' });
    const again = { kind: 'book_external', amount: '-100000', reference: transfer };
    expect((await propose(stack, operators, again)).status).toBe(400);
    expect(await lossOf()).toBe(loss);
    expect((await reconcile()).open).toBe(0);
  }, 120_000);

  it('A refund of money in suspense is refused if its transfer was booked in the meantime', async () => {
    const { refund, transfer } = await buildRefund();
    const proposed = await propose(stack, operators, { ...refund, provider_reference: transfer });
    expect(proposed.status).toBe(201);
    const booking = { kind: 'book_transfer', provider_reference: transfer };
    expect(await decide(stack, operators, booking)).toMatchObject({ status: 'carried_out' });
    const approved = await approve(stack, operators, proposed.body.data.id);
    expect(approved.body.data).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('no unbooked transfer'),
    });

    // This refund names no transfer; the evidence of a later booking of the same amount lists it.
    expect(await decide(stack, operators, refund)).toMatchObject({ status: 'carried_out' });
    const later = await transferElsewhere(stack, `later-${randomUUID()}`, '111111');
    await differenceWhen(later);
    const evidence = await decide(stack, operators, { ...booking, provider_reference: later });
    expect(evidence).toMatchObject({ evidence: { books: { refunded_receipts: [refund.receipt_id] } } });
  }, 120_000);

  it('A refund of money in suspense is an open difference once the bank has returned its transfer', async () => {
    const { refund, reference, transfer } = await buildRefund();
    expect(await decide(stack, operators, { ...refund, provider_reference: transfer })).toMatchObject({
      status: 'carried_out',
    });
    await settleAtProvider(stack, reference, 'REVERSED');
    const returned = await eventually(
      () => differenceOf(transfer),
      ({ state }) => state === 'open',
      30_000,
    );
    expect(returned).toMatchObject({ kind: 'STATUS', ours: { status: 'refunded' }, theirs: { status: 'reversed' } });
    expect((await reconcile()).open).toBe(1);
    expect((await propose(stack, operators, { kind: 'book_transfer', provider_reference: transfer })).status).toBe(404);
    const explanation = { kind: 'explain_difference', reconciliation_id: returned.id };
    expect((await propose(stack, operators, explanation)).status).toBe(201);
    expect((await reconcile()).open).toBe(0);
  }, 120_000);

  it('A refund of money in suspense asks the provider about the transfer that it names', async () => {
    const receipt_id = await buildSuspended(stack, partner, 100_000);
    const refund = { kind: 'settle_receipt', action: 'refund', receipt_id };
    const reference = `refund-${randomUUID()}`;
    const transfer = await transferElsewhere(stack, reference);
    await reconcile();
    expect(await differenceOf(transfer)).toMatchObject({ theirs: { status: 'pending' } });
    const named = { ...refund, provider_reference: transfer };
    expect((await propose(stack, operators, named)).status).toBe(400);
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, reference, 'SUCCEEDED');
    const { body } = await propose(stack, operators, named);
    await settleAtProvider(stack, reference, 'FAILED');
    const approved = await approve(stack, operators, body.data.id);
    await setFaults(stack, {});
    expect(approved.body.data).toMatchObject({ status: 'refused', reason: expect.stringContaining('failed') });
    const [receipt] = await stack
      .em()
      .execute<{ state: string }[]>('select state from receipts where id = ?', [refund.receipt_id]);
    expect(receipt).toEqual({ state: 'suspended' });
    expect(await differenceOf(transfer)).toMatchObject({ state: 'resolved' });
  }, 120_000);

  it('A transfer of the platform is booked with its own amount only', async () => {
    const unknown = await transferElsewhere(stack, `own-${randomUUID()}`, '111111');
    await differenceWhen(unknown);
    const wrong = await propose(stack, operators, { kind: 'book_external', amount: '-10000', reference: unknown });
    expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^amount: .*100000/) } });
    const booking = { kind: 'book_transfer', provider_reference: unknown };
    expect(await decide(stack, operators, booking)).toMatchObject({ status: 'carried_out' });
  }, 120_000);

  it('An unknown transfer can be booked once it has succeeded, even if no callback arrived', async () => {
    const reference = `elsewhere-${randomUUID()}`;
    const unknown = await transferElsewhere(stack, reference);
    await reconcile();
    expect(await differenceOf(unknown)).toMatchObject({ kind: 'UNKNOWN_TRANSFER', theirs: { status: 'pending' } });
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, reference, 'SUCCEEDED');
    await setFaults(stack, {});
    const decision = await decide(stack, operators, { kind: 'book_transfer', provider_reference: unknown });
    expect(decision).toMatchObject({ status: 'carried_out' });
    expect(await stuckOf(unknown)).toBeUndefined();
  }, 120_000);

  it('A failed payout that the provider sent counts toward the daily limit and is booked from its source', async () => {
    const payer = await buildPayer(stack, { available: '100000' });
    const { id } = await pay(payer, { bank_account_number: magicAccount('999999') });
    await payoutWhen(payer, id, 'failed');
    const used = async () => (await payer.get('/limits')).body.data.max_daily_amount.used;
    const before = await used();
    const early = await propose(stack, operators, { kind: 'book_transfer', payout_id: id });
    expect(early.status).toBe(400);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await eventually(
      () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
      ([row]) => row?.word === 'succeeded',
      60_000,
    );
    expect(Number(await used()) - Number(before)).toBe(100_000);
    expect(await decide(stack, operators, { kind: 'book_transfer', payout_id: id })).toMatchObject({
      status: 'carried_out',
    });
    expect((await readBalance(payer)).available).toBe('0.0000');
    const { reference } = await readPayout(payer, id);
    expect(await readPayout(payer, id)).toMatchObject({ status: 'failed', booked_at: expect.any(String) });
    const { items } = (await payer.get(`/payouts/${id}/timeline`)).body.data;
    expect(items.at(-1).text).toContain('IDR 100000.0000 was debited from the available balance');
    const statement = await stack.get(`/v1/accounts/${payer.account.available}/statement`, { token: token() });
    expect(statement.body.data.postings.at(-1)).toMatchObject({
      kind: 'transfer.booked',
      reference,
      amount: '-100000.0000',
    });
    const again = await propose(stack, operators, { kind: 'book_transfer', payout_id: id });
    expect(again.status).toBe(400);
  }, 120_000);

  it('Reconciliation finds no difference in a withdrawal that succeeded on both sides', async () => {
    const owner = await buildOwner(stack);
    const { id } = await withdraw(stack, owner);
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await reconcile();
    const { body } = await stack.get('/v1/reconciliations?limit=100&state=open', { token: token() });
    const about = body.data.items.filter(({ resource_id }: { resource_id: string | null }) => resource_id === id);
    expect(about).toEqual([]);
  });
}
