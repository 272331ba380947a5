import { stopSubscription } from '../../../src/giving/donations/stop-subscription.ts';
import { sweepSubscriptions } from '../../../src/giving/donations/sweep-subscriptions.ts';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import type { Caller } from '../../../src/shared/caller.ts';
import { newId } from '../../../src/shared/ids.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { pauseSchedules } from '../../support/pause-schedules.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

let stack: Stack;
let creator: BuiltUser;
let donor: BuiltUser;
let superAdmin: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  creator = await buildOrganizationAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
  await pauseSchedules(stack, ['sweep']);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  donor = await buildIndividual(stack, { balance: '1000000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const pool = systemAccounts.openDonationPool;
const own = async (user: BuiltUser) => (await stack.get('/v1/donations', { token: user.token })).body.data;
const trace = (user: BuiltUser, id: string) => stack.get(`/v1/donations/${id}/trace`, { token: user.token });
const giveByGateway = (body: object) =>
  stack.post('/v1/payments/gateway', { payment_id: 1, amount: 50_000, ...body }, { token: donor.token });
const setStatus = (id: string, status: string) =>
  stack.patch(`/v1/charitable-causes/${id}`, { status }, { token: creator.token });

describe('A donation to a cause from a balance', () => {
  it('A donation from a balance is completed at once and credited to the cause’s account', async () => {
    const before = await balanceOf(stack, creator.accountId);
    const { status, headers, body } = await give(stack, donor, 25_000.5, causeId);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { data: { amount: '25000.5000', reference_type: 'charitable_cause_donate', reference_id: causeId } },
    });
    expect((await own(donor)).items).toEqual([
      expect.objectContaining({
        user_id: donor.id,
        type: 'specific',
        amount: '25000.5000',
        status: 'completed',
        cause_id: causeId,
        allocation_batch_id: null,
        transaction_id: body.data.transaction_id,
      }),
    ]);
    const [{ id }] = (await own(donor)).items;
    const { body: events } = await stack.get(`/v1/events?resource_id=${id}`, { token: superAdmin.token });
    expect(events.data.items).toMatchObject([
      { event: 'RESOURCE_CREATED', request_id: headers.get('x-request-id'), data: { status: 'completed' } },
    ]);
    expect(Number(await balanceOf(stack, creator.accountId)) - Number(before)).toBe(25_000.5);
    expect(await currentAmountOf(stack, creator, causeId)).toBe(25_000.5);
    const transaction = await stack.get(`/v1/transactions/${body.data.transaction_id}`, { token: donor.token });
    expect(transaction.body.data.transaction).toMatchObject({
      reference_type: 'donation',
      reference_id: causeId,
      purpose: 'product_transfer',
      type: 'price',
    });
  });

  it('The same donation can be made repeatedly', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => give(stack, donor, 1000, causeId)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await own(donor)).total).toBe(3);
    const { body } = await stack.get(`/v1/charitable-causes/${causeId}`, { token: donor.token });
    expect(body.charitable_cause).toMatchObject({
      current_amount: 3000,
      aggregation: { donation_count: 3, donor_count: 1, progress_percent: 0.3 },
    });
  });

  it('A donation from a balance returns 404 for an unknown cause and 400 for an inactive one', async () => {
    expect((await give(stack, donor, 1000, newId())).status).toBe(404);
    expect((await give(stack, donor, 1000, await buildCause(stack, creator))).status).toBe(400);
    expect((await give(stack, donor, 1_000_000.0001, causeId)).status).toBe(400);
    await setStatus(causeId, 'deactivated');
    expect((await give(stack, donor, 1000, causeId)).status).toBe(400);
    await setStatus(causeId, 'active');
    expect((await give(stack, donor, 1000, causeId)).status).toBe(201);
  });

  it('Concurrent donations are all credited, and the cause’s amount never decreases', async () => {
    const donors = await Promise.all(Array.from({ length: 8 }, () => buildIndividual(stack, { balance: '100' })));
    const seen: number[] = [];
    const giving = Promise.all(
      donors.flatMap((each) => Array.from({ length: 10 }, () => asAClient(() => give(stack, each, 10, causeId)))),
    );
    let isOver = false;
    const watching = (async () => {
      while (!isOver) seen.push(await currentAmountOf(stack, donor, causeId));
    })();
    expect((await giving).every(({ status }) => status === 201)).toBe(true);
    isOver = true;
    await watching;
    expect(await currentAmountOf(stack, donor, causeId)).toBe(800);
    expect(seen).toEqual(seen.toSorted((left, right) => left - right));
  });
});

describe('A donation to a cause by gateway', () => {
  const toCause = (body: object = {}) =>
    giveByGateway({ reference_type: 'charitable_cause_donate', reference_id: causeId, ...body });
  const donationWhen = (status: string) =>
    eventually(
      async () => (await own(donor)).items[0],
      (donation) => donation?.status === status,
    );

  it('A gateway donation is pending until paid, then completed without the fee', async () => {
    const { body, headers } = await toCause();
    const [pending] = (await own(donor)).items;
    expect(pending).toMatchObject({ status: 'pending', transaction_id: null, cause_id: causeId });
    const { body: events } = await stack.get(`/v1/events?resource_id=${pending.id}`, { token: superAdmin.token });
    expect(events.data.items).toMatchObject([
      { event: 'RESOURCE_CREATED', request_id: headers.get('x-request-id'), actor_id: donor.id },
    ]);
    expect(await currentAmountOf(stack, donor, causeId)).toBe(0);
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    const donation = await donationWhen('completed');
    expect(donation).toMatchObject({
      type: 'specific',
      amount: '50000.0000',
      payment_order_id: body.data.payment_order_id,
    });
    expect(await currentAmountOf(stack, donor, causeId)).toBe(50_000);
    const { body: transaction } = await stack.get(`/v1/transactions/${donation.transaction_id}`, {
      token: donor.token,
    });
    expect(transaction.data.transaction).toMatchObject({
      type: 'price',
      amount: '50000.0000',
      purpose: 'topup_product',
    });
  });

  it('A declined gateway donation fails', async () => {
    const { body } = await toCause({ payment_id: 30 });
    await stack.sandbox.post('/sandbox/decline', { payment_code: body.data.payment_links });
    await donationWhen('failed');
    expect(await currentAmountOf(stack, donor, causeId)).toBe(0);
  });

  it('A pending donation is credited even if its cause was deactivated', async () => {
    const { body } = await toCause();
    await stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: creator.token });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await donationWhen('completed');
    expect(await currentAmountOf(stack, creator, causeId)).toBe(50_000);
  });

  it('A gateway donation returns 404 for an unknown cause and 400 for an inactive one', async () => {
    expect((await toCause({ reference_id: newId() })).status).toBe(404);
    expect((await toCause({ reference_id: await buildCause(stack, creator) })).status).toBe(400);
  });
});

describe('An open donation', () => {
  const poolBalance = async () =>
    (await stack.get('/v1/donations/open-pool', { token: donor.token })).body.data as {
      account_id: string;
      balance: string;
    };

  it('An open donation is credited to the pool, whose balance any user can read', async () => {
    const before = await poolBalance();
    expect(before.account_id).toBe(pool);
    const { status, body } = await give(stack, donor, 700);
    expect({ status, reference: body.data.reference_type }).toEqual({
      status: 201,
      reference: 'charitable_cause_open_donate',
    });
    expect((await own(donor)).items[0]).toMatchObject({ type: 'open', status: 'completed', cause_id: null });
    expect(Number((await poolBalance()).balance) - Number(before.balance)).toBe(700);
    expect((await stack.get('/v1/donations/open-pool')).status).toBe(401);
  });

  it('An open gateway donation is pending, then completed in the pool', async () => {
    const { body } = await giveByGateway({ reference_type: 'charitable_cause_open_donate', reference_id: pool });
    expect((await own(donor)).items[0]).toMatchObject({ type: 'open', status: 'pending' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      async () => (await own(donor)).items[0],
      (donation) => donation.status === 'completed',
    );
  });

  it('An open donation must name the pool (404 otherwise)', async () => {
    const body = { source_account_id: donor.accountId, amount: 5, reference_type: 'charitable_cause_open_donate' };
    for (const reference_id of [newId(), causeId, donor.accountId]) {
      const answer = await stack.post('/v1/payments/balance', { ...body, reference_id }, { token: donor.token });
      expect(answer.status).toBe(404);
    }
  });
});

describe('A subscription', () => {
  const subscribe = (amount: string) =>
    stack.post(
      '/v1/donations/subscriptions',
      { cause_id: causeId, amount, source_account_id: donor.accountId, interval: 'weekly' },
      { token: donor.token },
    );
  const resultOf = (id: string) =>
    stack.deps.workflows.client.workflow.getHandle(`donation-subscription/${id}`).result();

  it('A subscription makes its first donation at once, and stopping it completes its workflow', async () => {
    const { body } = await subscribe('1500');
    const [donation] = (await own(donor)).items;
    expect(donation).toMatchObject({ type: 'subscription', subscription_id: body.data.id, cause_id: causeId });
    expect((await trace(donor, donation.id)).body.data.steps).toMatchObject([
      { type: 'donation', subscription_id: body.data.id },
      { type: 'journal', source_account_id: donor.accountId, account_id: creator.accountId },
      { type: 'cause', cause_id: causeId },
    ]);
    await stack.delete(`/v1/donations/subscriptions/${body.data.id}`, undefined, { token: donor.token });
    expect(await resultOf(body.data.id)).toBe('stopped');
  });

  it('The sweep signals a stopped subscription if the process died before it could', async () => {
    const { body } = await subscribe('1500');
    const subscriptionId = body.data.id;
    const caller = { userId: donor.id } as Caller;
    const silent = { workflows: { wakeSubscription: async () => undefined } };
    await stopSubscription(stack.em(), silent, { caller, subscriptionId, requestId: newId() });
    await stack
      .owner()
      .execute("update donation_subscriptions set ended_at = now() - interval '2 minutes' where id = ?", [
        subscriptionId,
      ]);
    expect(await sweepSubscriptions(stack.em(), stack.deps.workflows, () => undefined)).toBeGreaterThan(0);
    expect(await resultOf(subscriptionId)).toBe('stopped');
  });

  /** Makes a subscription start earlier and signals its workflow. */
  const ageBy = async (id: string, interval: string) => {
    await stack.owner().execute(
      `update donation_subscriptions set started_at = started_at - age, attempted_at = attempted_at - age
         from (select ?::interval as age) as aged where id = ?`,
      [interval, id],
    );
    await stack.deps.workflows.client.workflow.getHandle(`donation-subscription/${id}`).signal('subscriptionStopped');
  };

  it('A subscription pays a due period once and fails after three refusals of a period', async () => {
    const { body } = await subscribe('400000');
    await ageBy(body.data.id, '7 days');
    await eventually(
      () => own(donor),
      ({ total }) => total === 2,
    );
    expect(await balanceOf(stack, donor.accountId)).toBe('200000.0000');
    const refusals = async () => {
      const [row] = await stack
        .em()
        .execute<[{ refusals: number }]>('select refusals from donation_subscriptions where id = ?', [body.data.id]);
      return row.refusals;
    };
    for (const [interval, count] of [
      ['7 days', 1],
      ['1 day', 2],
      ['1 day', 3],
    ] as const) {
      await ageBy(body.data.id, interval);
      await eventually(refusals, (made) => made === count, 30_000);
    }
    expect(await resultOf(body.data.id)).toBe('failed');
    const { body: read } = await stack.get(`/v1/donations/subscriptions/${body.data.id}`, { token: donor.token });
    expect(read.data).toMatchObject({ status: 'failed', periods_paid: 2 });
    expect(await balanceOf(stack, donor.accountId)).toBe('200000.0000');
  });

  it('A subscription that the balance does not cover leaves no rows', async () => {
    expect((await subscribe('1000001')).status).toBe(400);
    expect((await own(donor)).total).toBe(0);
  });
});
