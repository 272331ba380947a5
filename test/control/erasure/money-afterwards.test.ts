import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { findHold } from '../../../src/control/erasure/legal-holds.ts';
import { newId } from '../../../src/shared/ids.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { begun } from '../../circles/begin-circle.ts';
import { contribute } from '../../circles/build-circle.ts';
import { settleAtProvider, transferElsewhere } from '../../money-out/payouts/build-payouts.ts';
import { buildOwner, withdraw, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, balanceOf, buildIndividual, fund } from '../../support/build.ts';
import { buildGoal } from '../../support/build-targets.ts';
import { approve, buildOperators, decide, type Operators, plantDecision, propose } from '../../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { suspendedUnder } from '../../support/suspended-receipt.ts';
import { buildStrandedCause, erase, lookNoMore } from './stranded-cause.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

const all = '100000.0000';

/** Builds a person who has withdrawn everything, successfully. */
async function gone(): Promise<{ person: BuiltUser; withdrawalId: string }> {
  const person = await buildOwner(stack, '100000');
  const { id: withdrawalId } = await withdraw(stack, person);
  await withdrawalWhen(stack, person, withdrawalId, 'succeeded');
  return { person, withdrawalId };
}
/** Builds an erased person whose withdrawal the bank returned after the erasure. */
async function returned(): Promise<BuiltUser> {
  const { person, withdrawalId } = await gone();
  await lookNoMore(stack, withdrawalId);
  await erase(stack, operators, person);
  await settleAtProvider(stack, withdrawalId, 'REVERSED');
  await eventually(
    () => balanceOf(stack, person.accountId),
    (balance) => balance === all,
  );
  return person;
}
const waiting = async () => {
  const found = (await readBacklog(stack.em())).find(({ what }) => what === 'money_of_erased');
  if (found === undefined) throw new Error('no alarm for money of the erased');
  return found;
};
const refusal = async (proposal: object) => {
  const { status, body } = await propose(stack, operators, proposal);
  return [status, body.message];
};

describe('Erasures that wait for money', () => {
  it('An erasure waits while the bank may still return the person’s withdrawals', async () => {
    const { person, withdrawalId } = await gone();
    const why = 'the bank may still return a withdrawal of theirs';
    const proposal = { kind: 'erase_person', user_id: person.id };
    expect(await refusal(proposal)).toEqual([400, `user_id: the user cannot be erased yet: ${why}`]);
    const id = newId();
    await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [id, person.id]);
    const config = { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 30 };
    expect(await continueErasure(stack.em(), { ...stack.deps, config }, id)).toMatchObject({ status: 'waiting' });
    const erasure = await stack.get(`/v1/users/${person.id}/erasure`, { token: operators.proposer.token });
    expect(erasure.body.data).toMatchObject({ status: 'waiting', held_because: why });
    await settleAtProvider(stack, withdrawalId, 'REVERSED');
    await withdrawalWhen(stack, person, withdrawalId, 'reversed');
    expect(await findHold(stack.em(), person.id)).toBe('there is money on their accounts');
  }, 60_000);

  it('A person who left a circle cannot be erased while their contribution may be refunded', async () => {
    const { id, members, memberIds } = await begun(stack, 2, {}, ['1000000', '100000']);
    const [, leaving] = members as [BuiltUser, BuiltUser];
    const heir = await buildIndividual(stack);
    expect((await contribute(stack, leaving, id)).status).toBe(201);
    const path = `/v1/saving-circles/${id}/members/${memberIds[1]}/replacements`;
    const proposed = await stack.post(path, { account_id: heir.accountId }, { token: leaving.token });
    const accept = `/v1/saving-circles/${id}/replacements/${proposed.body.data.id}/accept`;
    expect((await stack.post(accept, {}, { token: heir.token })).body.data.status).toBe('completed');
    expect(await findHold(stack.em(), leaving.id)).toBe(
      'what they have paid for a round of a saving circle may still come back',
    );
    expect((await stack.post(`/v1/saving-circles/${id}/cancel`, {}, { token: operators.approver.token })).status).toBe(
      200,
    );
    expect(await balanceOf(stack, leaving.accountId)).toBe(all);
    expect(await findHold(stack.em(), leaving.id)).toBe('there is money on their accounts');
  }, 60_000);
});

describe('Money for a person after the erasure', () => {
  it('Money returned to an erased person is shown to operators, and two of them can pay it out once', async () => {
    const { rows: before } = await waiting();
    const { accountId } = await returned();
    expect(await waiting()).toMatchObject({ rows: before + 1, oldest: expect.any(Date) });
    const overview = await stack.get('/v1/operations/overview', { token: operators.proposer.token });
    expect(overview.body.data.cases).toContainEqual(
      expect.objectContaining({ what: 'money_of_erased', count: before + 1 }),
    );
    const paid = { kind: 'book_external', amount: '-60000', reference: `paid ${newId()}`, account_id: accountId };
    expect(await refusal({ ...paid, amount: '60000' })).toEqual([
      400,
      'amount: is below 0 for money that left an account',
    ]);
    const tooMuch = { ...paid, amount: '-100001' };
    expect(await refusal(tooMuch)).toEqual([400, `amount: exceeds the available balance of the account, IDR ${all}`]);
    expect(await refusal({ ...paid, account_id: (await buildIndividual(stack)).accountId })).toEqual([
      400,
      'account_id: is not the account of an erased person',
    ]);
    const meanwhile = await propose(stack, operators, { ...paid, reference: `twice ${newId()}` });
    expect(meanwhile.body.data).toMatchObject({ status: 'pending', account_id: accountId });
    expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, accountId)).toBe('40000.0000');
    expect((await approve(stack, operators, meanwhile.body.data.id)).body.data).toMatchObject({
      status: 'refused',
      reason: 'exceeds the available balance of the account',
    });
    const rest = { ...paid, amount: '-40000', reference: `rest ${newId()}` };
    expect(await decide(stack, operators, rest)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, accountId)).toBe('0.0000');
    expect(await waiting()).toMatchObject({ rows: before });
    const [event] = await stack
      .em()
      .execute<[{ data: object }]>(
        "select data from events where event = 'EXTERNAL_BOOKED' and data ->> 'reference' = ?",
        [paid.reference],
      );
    expect(event?.data).toMatchObject({ account_id: accountId, amount: '-60000.0000' });
  }, 60_000);

  it('Money in the saving goal of an erased person, which a restore can bring back, is paid out and booked', async () => {
    const { rows: before } = await waiting();
    const person = await buildIndividual(stack);
    const { accountId } = await buildGoal(stack, person);
    await erase(stack, operators, person);
    await fund(stack, accountId, '1000');
    expect(await waiting()).toMatchObject({ rows: before + 1 });
    const paid = { kind: 'book_external', amount: '-1000', reference: `goal ${newId()}`, account_id: accountId };
    expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, accountId)).toBe('0.0000');
    expect(await waiting()).toMatchObject({ rows: before });
  });

  it('The platform’s own transfer to an erased person is credited back if the bank returns it', async () => {
    const { accountId } = await returned();
    const reference = `own-${newId()}`;
    const transfer = await transferElsewhere(stack, reference, '111111');
    const paid = { kind: 'book_external', amount: '-100000', reference: transfer, account_id: accountId };
    expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, accountId)).toBe('0.0000');
    await settleAtProvider(stack, reference, 'REVERSED');
    const balance = await eventually(
      () => balanceOf(stack, accountId),
      (held) => held === all,
    );
    expect(balance).toBe(all);
  }, 60_000);

  it('Two operators can refund a donation to an erased person’s cause, however old it is', async () => {
    const { rows: before } = await waiting();
    const { owner, donorAccountId, donationId } = await buildStrandedCause(stack, operators);
    const back = { kind: 'refund_donation', donation_id: donationId };
    expect(await waiting()).toMatchObject({ rows: before + 1 });
    const booked = { kind: 'book_external', amount: '-1', reference: `kept ${newId()}`, account_id: owner.accountId };
    expect(await refusal(booked)).toEqual([400, 'amount: exceeds the available balance of the account, IDR 0.0000']);
    expect(await decide(stack, operators, back)).toMatchObject({ status: 'carried_out' });
    expect(await waiting()).toMatchObject({ rows: before });
    expect(await balanceOf(stack, donorAccountId)).toBe('400000.0000');
  }, 60_000);

  it('Suspense money cannot be credited to an erased person, neither by a proposal nor by its execution', async () => {
    const { person, withdrawalId } = await gone();
    await lookNoMore(stack, withdrawalId);
    const payer = await buildIndividual(stack);
    const top = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const { data: order } = (await stack.post('/v1/payments/gateway', top, { token: payer.token })).body;
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
    const receiptId = await suspendedUnder(stack, order.payment_order_id);
    const credit = { kind: 'settle_receipt', receipt_id: receiptId, action: 'credit', account_id: person.accountId };
    const before = await propose(stack, operators, credit);
    expect(before.status).toBe(201);
    await erase(stack, operators, person);
    expect(await refusal(credit)).toEqual([
      400,
      'account_id: is the account of an erased person, who could not move the money',
    ]);
    expect((await approve(stack, operators, before.body.data.id)).body.data).toMatchObject({
      status: 'lapsed',
      reason: 'the person whose account would be credited has been erased',
    });
    const planted = await plantDecision(stack, operators, credit);
    const settle = stack.em().execute('select settle_receipt(?, ?)', [newId(), planted]);
    await expect(settle).rejects.toMatchObject({ code: 'AM010' });
    await stack
      .em()
      .execute("update decisions set status = 'rejected', rejected_by = ? where id = ?", [
        operators.approver.id,
        planted,
      ]);
    const elsewhere = { ...credit, account_id: payer.accountId };
    expect(await decide(stack, operators, elsewhere)).toMatchObject({ status: 'carried_out' });
    expect(await balanceOf(stack, person.accountId)).toBe('0.0000');
  }, 60_000);
});
