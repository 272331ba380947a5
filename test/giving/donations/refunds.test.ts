import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { newId } from '../../../src/shared/ids.ts';
import { transfersOf } from '../../money-out/payouts/build-payouts.ts';
import { addBankAccount, ask, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

let stack: Stack;
let superAdmin: BuiltUser;
let operators: Operators;
let creator: BuiltUser;
let donor: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  creator = await buildOrganizationAdmin(stack);
  donor = await buildIndividual(stack, { balance: '1000000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const refund = (id: string, by = donor) => stack.post(`/v1/donations/${id}/refund`, undefined, { token: by.token });
const listed = async (by = donor) => (await stack.get('/v1/donations', { token: by.token })).body.data.items;
/** Donates to the cause, or to the open pool; returns the donation's id. */
async function given(amount: number, to = causeId): Promise<string> {
  expect((await give(stack, donor, amount, to || undefined)).status).toBe(201);
  return (await listed())[0].id;
}
const statusOf = async (id: string) => (await listed()).find((each: { id: string }) => each.id === id).status;
const refused = (status: number, message: string) => ({
  status,
  body: { message: expect.stringContaining(message) },
});
const disburse = async (amount: string, digits?: string) => {
  const bank_account_id = await addBankAccount(stack, creator, digits);
  const purpose_note = 'Two pumps and their pipes';
  const { status, body } = await ask(stack, creator, { bank_account_id, amount, cause_id: causeId, purpose_note });
  expect(status).toBe(201);
  return body.data.id as string;
};
const giveByGateway = async (reference_type: string, reference_id: string) => {
  const body = { reference_type, reference_id, payment_id: 1, amount: 50_000 };
  const { data } = (await stack.post('/v1/payments/gateway', body, { token: donor.token })).body;
  return data;
};

describe('A donation refunded by its donor', () => {
  it('A refunded donation is credited to the account that paid and shown wherever it is listed', async () => {
    const { data: pocket } = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: donor.token })).body;
    const transfer = { destination_account_id: pocket.id, amount: '300' };
    await stack.post(`/v1/accounts/${donor.accountId}/transfers`, transfer, { token: donor.token });
    await given(100);
    await give(stack, { ...donor, accountId: pocket.id }, 300, causeId);
    const [donation] = await listed();
    expect(await balanceOf(stack, pocket.id)).toBe('0.0000');
    const { status, body, headers } = await refund(donation.id);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        message: 'Donation refunded',
        data: {
          ...donation,
          status: 'refunded',
          refund_transaction_id: expect.any(String),
          updated_at: expect.any(String),
        },
      },
    });
    expect((await listed())[0]).toEqual(body.data);
    expect(await balanceOf(stack, pocket.id)).toBe('300.0000');
    expect(await balanceOf(stack, creator.accountId)).toBe('100.0000');
    const { charitable_cause } = (await stack.get(`/v1/charitable-causes/${causeId}`, { token: donor.token })).body;
    expect(charitable_cause).toMatchObject({
      current_amount: 100,
      aggregation: { donation_count: 1, donor_count: 1, progress_percent: 0.01 },
    });
    const { refund_transaction_id: transactionId } = body.data;
    const { transaction } = (await stack.get(`/v1/transactions/${transactionId}`, { token: donor.token })).body.data;
    expect(transaction).toMatchObject({
      user_id: donor.id,
      amount: '300.0000',
      status: 'reversed',
      type: 'price',
      reference_type: 'donation',
      reference_id: causeId,
      source_account_id: creator.accountId,
      destination_account_id: pocket.id,
      purpose: 'internal_withdrawal',
    });
    const { steps } = (await stack.get(`/v1/donations/${donation.id}/trace`, { token: donor.token })).body.data;
    expect(steps.map(({ type }: { type: string }) => type)).toEqual(['donation', 'journal', 'cause', 'refund']);
    expect(steps.at(-1)).toMatchObject({ amount: '300.0000', transaction_id: transactionId, account_id: pocket.id });
    const { items } = (await stack.get(`/v1/events?resource_id=${donation.id}`, { token: superAdmin.token })).body.data;
    expect(items[0]).toMatchObject({
      event: 'RESOURCE_UPDATED',
      actor_id: donor.id,
      request_id: headers.get('x-request-id'),
      data: { status: 'refunded', transaction_id: transactionId },
    });
    const summary = await stack.get('/v1/summary/charitable-causes', { token: creator.token });
    expect(summary.body.total_collected_amount).toBe('100.0000');
  });

  it('A refunded gateway donation is credited to the donor’s oldest account, without the fee', async () => {
    await stack.post('/v1/accounts', { name: 'Pocket' }, { token: donor.token });
    const order = await giveByGateway('charitable_cause_donate', causeId);
    const [{ id }] = await listed();
    expect(await refund(id)).toMatchObject(refused(400, 'pending'));
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    await eventually(
      () => statusOf(id),
      (status) => status === 'completed',
    );
    expect((await refund(id)).status).toBe(200);
    expect(await balanceOf(stack, donor.accountId)).toBe('1050000.0000');
    expect(await currentAmountOf(stack, donor, causeId)).toBe(0);
  });

  it('A subscription continues after one of its donations is refunded', async () => {
    const subscription = { cause_id: causeId, amount: '700', source_account_id: donor.accountId, interval: 'weekly' };
    const { data } = (await stack.post('/v1/donations/subscriptions', subscription, { token: donor.token })).body;
    expect((await refund((await listed())[0].id)).status).toBe(200);
    expect(await balanceOf(stack, donor.accountId)).toBe('1000000.0000');
    const read = await stack.get(`/v1/donations/subscriptions/${data.id}`, { token: donor.token });
    expect(read.body.data).toMatchObject({ status: 'active', periods_paid: 1 });
    await stack.delete(`/v1/donations/subscriptions/${data.id}`, undefined, { token: donor.token });
  });

  it('An open donation can be refunded from the pool until it is allocated', async () => {
    const [first, second] = [await given(700, ''), await given(800, '')];
    const before = Number(await balanceOf(stack, systemAccounts.openDonationPool));
    expect((await refund(first)).status).toBe(200);
    expect(before - Number(await balanceOf(stack, systemAccounts.openDonationPool))).toBe(700);
    const allocation = { donation_ids: [first], cause_id: causeId };
    const again = await stack.post('/v1/donations/allocate', allocation, { token: superAdmin.token });
    expect(again.status).toBe(400);
    const allocated = { donation_ids: [second], cause_id: causeId };
    expect((await stack.post('/v1/donations/allocate', allocated, { token: superAdmin.token })).status).toBe(200);
    expect(await refund(second)).toMatchObject(refused(400, 'allocated'));
    expect(await balanceOf(stack, donor.accountId)).toBe('999200.0000');
  });

  it('A donation to a stopped or deactivated cause can be refunded', async () => {
    const [first, second] = [await given(100), await given(200)];
    const stop = { reason: 'Reported by neighbours' };
    await stack.post(`/v1/charitable-causes/${causeId}/stop`, stop, { token: superAdmin.token });
    expect((await refund(first)).status).toBe(200);
    await stack.post(`/v1/charitable-causes/${causeId}/reinstate`, stop, { token: superAdmin.token });
    await stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: creator.token });
    expect((await refund(second)).status).toBe(200);
    expect(await balanceOf(stack, donor.accountId)).toBe('1000000.0000');
  });

  it('A refund completes a closed cause that has disbursed the rest', async () => {
    const id = await given(200_000);
    await withdrawalWhen(stack, creator, await disburse('200000'), 'succeeded');
    expect(await refund(id)).toMatchObject(refused(400, 'disbursed since'));
    const later = await given(5000);
    await stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: creator.token });
    expect((await refund(later)).status).toBe(200);
    const { charitable_cause } = (await stack.get(`/v1/charitable-causes/${causeId}`, { token: creator.token })).body;
    expect(charitable_cause).toMatchObject({ status: 'completed', current_amount: 200_000 });
  });

  it('A refunded donation is no longer disbursable; the rest is', async () => {
    const [first] = [await given(100_000), await given(50_000)];
    expect((await refund(first)).status).toBe(200);
    const bank_account_id = await addBankAccount(stack, creator);
    const body = { bank_account_id, amount: '50001', cause_id: causeId, purpose_note: 'Two pumps and pipes' };
    expect((await ask(stack, creator, body)).status).toBe(400);
    await withdrawalWhen(stack, creator, await disburse('50000'), 'succeeded');
  });
});

describe('Refused refunds of donations', () => {
  it('A donation cannot be refunded twice', async () => {
    const id = await given(100);
    expect((await refund(id)).status).toBe(200);
    expect(await refund(id)).toMatchObject(refused(400, 'refunded, not completed'));
    expect(await balanceOf(stack, donor.accountId)).toBe('1000000.0000');
  });

  it('A donation can be refunded only until seven days after the payment', async () => {
    const age = (id: string, interval: string) =>
      withoutTriggers(
        stack,
        `update transactions t set created_at = now() - ?::interval from donations d
         where d.id = ? and t.id = d.transaction_id`,
        [interval, id],
      );
    const [first, second] = [await given(100), await given(200)];
    await age(first, '7 days');
    expect(await refund(first)).toMatchObject(refused(400, 'within 7 days'));
    await age(second, '6 days 23 hours 59 minutes');
    expect((await refund(second)).status).toBe(200);
  });

  it('Only the donor can refund a donation directly', async () => {
    const id = await given(100);
    const others = [await buildIndividual(stack), creator, superAdmin, await buildPlatformAdmin(stack)];
    for (const other of others) expect((await refund(id, other)).status).toBe(403);
    expect((await refund(newId())).status).toBe(404);
    expect(await statusOf(id)).toBe('completed');
  });

  it('A donation cannot be refunded while a later disbursement is pending', async () => {
    const id = await given(100_000);
    const failed = await disburse('50000', '999999');
    await withdrawalWhen(stack, creator, failed, 'failed');
    const waiting = await disburse('50000', '131313');
    expect(await refund(id)).toMatchObject(refused(400, 'disbursed since'));
    await eventually(
      () => transfersOf(stack, waiting),
      (transfers) => transfers.length === 1,
    );
    await stack.sandbox.post('/sandbox/payouts/settle', { reference_id: waiting, status: 'FAILED' });
    await withdrawalWhen(stack, creator, waiting, 'failed');
    expect((await refund(id)).status).toBe(200);
  });
});

describe('A decision refund_donation', () => {
  const proposed = (donation_id: string) => propose(stack, operators, { kind: 'refund_donation', donation_id });

  it('A refund_donation decision refunds once two people agree, and the event names the approver', async () => {
    const id = await given(400);
    const { status, body } = await proposed(id);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        data: {
          kind: 'refund_donation',
          status: 'pending',
          donation_id: id,
          evidence: {
            provider: null,
            books: { status: 'completed', amount: '400.0000', cause_id: causeId, refund_account_id: donor.accountId },
          },
        },
      },
    });
    const decisionId = body.data.id;
    const self = await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, {
      token: operators.proposer.token,
    });
    expect(self.status).toBe(403);
    const approved = await approve(stack, operators, decisionId);
    expect([approved.status, approved.body.data]).toMatchObject([
      200,
      { status: 'carried_out', donation_id: id, approved_by: operators.approver.id },
    ]);
    expect(await statusOf(id)).toBe('refunded');
    expect(await balanceOf(stack, donor.accountId)).toBe('1000000.0000');
    const { items } = (await stack.get(`/v1/events?resource_id=${id}`, { token: superAdmin.token })).body.data;
    expect(items[0]).toMatchObject({ actor_id: operators.approver.id, data: { decision_id: decisionId } });
    expect((await approve(stack, operators, decisionId)).status).toBe(400);
  });

  it('A refund_donation decision lapses after a refund and is refused after a disbursement', async () => {
    const [first, second] = [await given(100_000), await given(100_000)];
    const [one, two] = [await proposed(first), await proposed(second)];
    expect((await refund(first)).status).toBe(200);
    const lapsed = await approve(stack, operators, one.body.data.id);
    expect([lapsed.status, lapsed.body.data]).toMatchObject([
      200,
      { status: 'lapsed', reason: 'the donation is now refunded' },
    ]);
    await disburse('50000');
    const late = await approve(stack, operators, two.body.data.id);
    expect([late.status, late.body.data]).toMatchObject([
      200,
      { status: 'refused', reason: expect.stringContaining('disbursed since') },
    ]);
    expect(await statusOf(second)).toBe('completed');
  });

  it('A refund_donation decision proposed within seven days may be approved later', async () => {
    const id = await given(100);
    const { body } = await proposed(id);
    await withoutTriggers(stack, "update decisions set created_at = created_at - interval '2 hours' where id = ?", [
      body.data.id,
    ]);
    await withoutTriggers(
      stack,
      `update transactions t set created_at = now() - interval '7 days 1 hour' from donations d
       where d.id = ? and t.id = d.transaction_id`,
      [id],
    );
    expect(await refund(id)).toMatchObject(refused(400, 'within 7 days'));
    expect((await approve(stack, operators, body.data.id)).body.data.status).toBe('carried_out');
  });

  it('A refund_donation decision needs a known, refundable donation', async () => {
    const id = await given(100);
    await refund(id);
    expect((await proposed(id)).status).toBe(400);
    expect((await proposed(newId())).status).toBe(404);
    expect((await proposed('x')).status).toBe(400);
  });
});
