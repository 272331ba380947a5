import { allocateDonations } from '../../../src/giving/donations/allocate-donations.ts';
import { packIds } from '../../../src/giving/donations/allocation.ts';
import { createAllocation } from '../../../src/giving/donations/create-allocation.ts';
import { openSubscription } from '../../../src/giving/donations/open-subscription.ts';
import { openPartnerPayment } from '../../../src/money-in/collections/open-partner-payment.ts';
import { preparePartnerPayment } from '../../../src/money-in/collections/prepare-partner-payment.ts';
import { openPaymentOrder } from '../../../src/money-in/payments/open-payment-order.ts';
import type { PaymentOpening } from '../../../src/money-in/payments/payment-contract.ts';
import { closePayment } from '../../../src/money-in/payments/settle-payment.ts';
import { fingerprintOfRequest } from '../../../src/partners/keep-sealed-answer.ts';
import { presentError } from '../../../src/platform/http/errors.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { fromStored, openOnce, refuseOnce, toStored } from '../../../src/platform/openings/open-once.ts';
import { canonicalJson } from '../../../src/shared/canonical-json.ts';
import { DomainError } from '../../../src/shared/errors.ts';
import {
  allocationBatchIdFor,
  newId,
  partnerPaymentIdFor,
  paymentOrderIdFor,
  subscriptionIdFor,
} from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildSuperAdmin, fund } from '../../support/build.ts';
import { buildActiveCause, buildGoal } from '../../support/build-targets.ts';
import { buildPartner, freshKey } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { claimOf } from './caller-of.ts';

/** No worker runs activities: each attempt is made here by hand, in an order that delays could cause. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const at = () => new Date().toISOString();
const rowOf = (table: string, id: string) => stack.em().execute<object[]>(`select 1 from ${table} where id = ?`, [id]);
const setCause = (id: string, status: string) =>
  stack.owner().execute('update charitable_causes set status = ? where id = ?', [status, id]);

/** Returns the opening of a contribution of IDR 10,000 to a goal, under a key or without one. */
async function contributionTo(goal: { id: string; accountId: string }, saver: BuiltUser, key?: string) {
  const body = {
    reference_type: 'saving_goal_contribution' as const,
    reference_id: goal.id,
    payment_id: 1,
    amount: '10000',
  };
  const opening: PaymentOpening = {
    order: {
      user_id: saver.id,
      organization_id: null,
      reference_type: body.reference_type,
      reference_id: goal.id,
      target_account_id: goal.accountId,
      payment_id: 1,
      nominal: '10000.0000',
      admin_fee: '4000.0000',
      texts_sealed: null,
      request_id: 'test',
      on_behalf_of: null,
    },
    claim: claimOf(saver.id, key, body),
    stamp: await stampOpening(stack.em()),
  };
  const orderId = paymentOrderIdFor(saver.id, key);
  const ask = () =>
    stack.post(
      '/v1/payments/gateway',
      { ...body, amount: 10_000 },
      { token: saver.token, headers: key === undefined ? {} : { 'idempotency-key': key } },
    );
  return {
    orderId,
    open: () => openPaymentOrder(stack.em(), { orderId, opening, at: at() }, stack.deps),
    ask,
  };
}

async function subscriptionOf(donor: BuiltUser, causeId: string, key: string, stamp: object = {}) {
  const subscriptionId = subscriptionIdFor(donor.id, key);
  const body = { cause_id: causeId, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' as const };
  const opening = {
    userId: donor.id,
    causeId,
    amount: '1000.0000',
    sourceAccountId: donor.accountId,
    interval: body.interval,
    requestId: 'test',
    stamp: { ...(await stampOpening(stack.em())), ...stamp },
  };
  return {
    subscriptionId,
    opening,
    open: () => openSubscription(stack.em(), { subscriptionId, opening, at: at() }),
    ask: () =>
      stack.post('/v1/donations/subscriptions', body, { token: donor.token, headers: { 'idempotency-key': key } }),
  };
}

describe('Stored refusals', () => {
  it.each([
    new DomainError('AUTH_PARTNER_INACTIVE', 'The partner account is suspended'),
    new DomainError('REQUEST_INVALID_PAYLOAD', 'must be greater than zero', { field: 'amount' }),
    new DomainError('FUNDS_INSUFFICIENT_BALANCE', 'not covered', { details: { available: '0.0000' } }),
  ])('A stored refusal is returned unchanged, with or without details: $message', (refusal) => {
    const again = fromStored(JSON.parse(JSON.stringify(toStored(refusal))));
    const told = (error: DomainError) => JSON.stringify(presentError(error, '/v1/partners/payouts', 'test'));
    expect(told(again)).toBe(told(refusal));
  });
});

describe('An attempt that resumes after another one of the same request was refused', () => {
  it('A resumed attempt never opens an order for a goal that has become free since the refusal', async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const [sleeper, other] = [await contributionTo(goal, saver), await contributionTo(goal, saver)];
    await other.open();
    await expect(sleeper.open()).rejects.toMatchObject({ code: 'DUPLICATE' });
    const close = { orderId: other.orderId, status: 'EXPIRED' as const, failureCode: null };
    await closePayment(stack.em(), close, stack.deps);
    await expect(sleeper.open()).rejects.toMatchObject({ code: 'DUPLICATE' });
    expect(await rowOf('payment_orders', sleeper.orderId)).toEqual([]);
    await (await contributionTo(goal, saver)).open();
  });

  it('A resumed attempt never starts a subscription from a balance topped up since the refusal', async () => {
    const donor = await buildIndividual(stack);
    const cause = await buildActiveCause(stack);
    const { subscriptionId, open } = await subscriptionOf(donor, cause.id, freshKey());
    await expect(open()).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    await fund(stack, donor.accountId, '1000');
    await expect(open()).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    expect(await rowOf('donation_subscriptions', subscriptionId)).toEqual([]);
    expect(await balanceOf(stack, donor.accountId)).toBe('1000.0000');
  });

  it('A resumed attempt never allocates to a cause activated since the refusal, but the next request may', async () => {
    const cause = await buildActiveCause(stack);
    const ids = await buildOpenDonations(stack, await buildIndividual(stack), 2);
    const batchId = allocationBatchIdFor(cause.id, ids);
    const requestedBy = (await buildSuperAdmin(stack)).id;
    const request = async () => ({
      ...{ batchId, attemptId: newId(), causeId: cause.id, donations: packIds(ids), requestedBy, requestId: 'test' },
      stamp: await stampOpening(stack.em()),
    });
    const [sleeper, twin] = [await request(), await request()];
    await setCause(cause.id, 'deactivated');
    expect(await allocateDonations(stack.em(), sleeper)).toMatchObject({ outcome: 'refused', cause: 'deactivated' });
    await setCause(cause.id, 'active');
    for (const late of [sleeper, twin]) {
      expect(await allocateDonations(stack.em(), late)).toMatchObject({ outcome: 'refused', cause: 'deactivated' });
    }
    expect(await rowOf('donation_allocations', batchId)).toEqual([]);
    expect(await allocateDonations(stack.em(), await request())).toMatchObject({ outcome: 'allocated', count: 2 });
    // Now that the resource exists, requests that were refused earlier return it.
    expect(await allocateDonations(stack.em(), sleeper)).toMatchObject({ outcome: 'allocated', count: 2 });
  });

  it('A late activity returns the refusal that its request has stored', async () => {
    const superAdmin = await buildSuperAdmin(stack);
    const donationIds = await buildOpenDonations(stack, await buildIndividual(stack, { balance: '100000' }), 2);
    const cause = await buildActiveCause(stack);
    const late = {
      ...{ batchId: allocationBatchIdFor(cause.id, donationIds), attemptId: newId(), causeId: cause.id },
      ...{ donations: packIds(donationIds), requestedBy: superAdmin.id, requestId: 'test' },
      stamp: await stampOpening(stack.em()),
    };
    const refused = { outcome: 'refused' as const, cause: null, donations: { allocated: packIds(donationIds) } };
    const asking = { causeId: cause.id, donationIds, requestedBy: superAdmin.id, requestId: 'test' };
    const workflows = { runDonationAllocation: async () => refused };
    await expect(createAllocation(stack.em(), { workflows }, asking)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      messages: donationIds.map((id) => expect.stringContaining(`${id}: already allocated`)),
    });
    expect(await allocateDonations(stack.em(), late)).toEqual(refused);
  });
});

describe('Recorded refusals', () => {
  it('A refusal of another body under the same key is not returned to an earlier request', async () => {
    const stamp = await stampOpening(stack.em());
    const userId = newId();
    const place = (fingerprint: string) =>
      ({ resourceId: newId(), kind: 'withdrawal', claim: { userId, keyHash: 'key', fingerprint } }) as const;
    const find = async () => null;
    const refusal = new DomainError('INSUFFICIENT_BALANCE', 'refused');
    await expect(refuseOnce(stack.em(), { ...place('one'), number: null }, find, refusal)).rejects.toBe(refusal);
    const other = openOnce(stack.em(), { ...place('other'), stamp }, { find, make: async () => 'made' });
    await expect(other).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('An old request is never executed after its stored refusal was deleted', async () => {
    const donor = await buildIndividual(stack);
    const cause = await buildActiveCause(stack);
    const { subscriptionId, open } = await subscriptionOf(donor, cause.id, freshKey(), {
      askedAt: new Date(Date.now() - 31 * 24 * 60 * 60 * 1000).toISOString(),
    });
    const place = { resourceId: subscriptionId, kind: 'donation_subscription', number: null } as const;
    const refusal = new DomainError('INSUFFICIENT_BALANCE', 'refused');
    await expect(refuseOnce(stack.em(), place, async () => null, refusal)).rejects.toBe(refusal);
    await expect(open()).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    const verdicts = () => stack.em().execute('select 1 from requests where resource_id = ?', [subscriptionId]);
    await forgetOldRows(stack.em());
    expect(await verdicts()).toHaveLength(1);
    await stack
      .owner()
      .execute("update requests set decided_at = now() - interval '31 days' where resource_id = ?", [subscriptionId]);
    await forgetOldRows(stack.em());
    expect(await verdicts()).toEqual([]);
    await fund(stack, donor.accountId, '1000');
    await expect(open()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await balanceOf(stack, donor.accountId)).toBe('1000.0000');
  });
});

describe('A request whose retry was refused before its workflow could start', () => {
  it('A request whose retry was refused first never creates a payment order, and its key is free again', async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const key = freshKey();
    const first = await contributionTo(goal, saver, key);
    const setTarget = (target: number) =>
      stack.owner().execute('update saving_goals set target_amount = ? where id = ?', [target, goal.id]);
    await setTarget(5000);
    expect(await first.ask()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('exceed the target') },
    });
    await setTarget(1_000_000);
    await expect(first.open()).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    expect(await rowOf('payment_orders', first.orderId)).toEqual([]);
    expect(await (await contributionTo(goal, saver, key)).open()).toMatchObject({ status: 'PENDING' });
  });

  it('A request whose retry was refused first never starts a subscription', async () => {
    const donor = await buildIndividual(stack, { balance: '5000' });
    const cause = await buildActiveCause(stack);
    const first = await subscriptionOf(donor, cause.id, freshKey());
    await setCause(cause.id, 'deactivated');
    expect(await first.ask()).toMatchObject({ status: 400 });
    await setCause(cause.id, 'active');
    await expect(first.open()).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    expect(await rowOf('donation_subscriptions', first.subscriptionId)).toEqual([]);
    expect(await balanceOf(stack, donor.accountId)).toBe('5000.0000');
  });

  it("A request whose retry was refused first never creates a partner's payment", async () => {
    const partner = await buildPartner(stack);
    const key = freshKey();
    const paymentId = partnerPaymentIdFor(partner.id, key);
    const body = { method: 'virtual_account' as const, channel: 'BNI', amount: '50000' };
    const open = async () => {
      const fingerprint = fingerprintOfRequest('POST', '/v1/partners/payments', canonicalJson(body));
      const idempotency = { keyHash: hashKey(key), fingerprint };
      const input = { paymentId, partnerId: partner.id, body, idempotency, requestId: 'test' };
      const stamp = await stampOpening(stack.em());
      const opening = { ...(await preparePartnerPayment(stack.em(), stack.deps.sealer, input)), stamp };
      return () => openPartnerPayment(stack.em(), stack.deps.sealer, { paymentId, opening, at: at() });
    };
    const setChannel = (active: boolean) =>
      stack.owner().execute("update payment_channels set active = ? where channel_code = 'BNI'", [active]);
    const first = await open();
    await setChannel(false);
    expect(await partner.post('/payments', body, key)).toMatchObject({ status: 400 });
    await setChannel(true);
    await expect(first()).rejects.toMatchObject({ code: 'REQUEST_INVALID_PAYLOAD' });
    expect(await rowOf('partner_payments', paymentId)).toEqual([]);
    const next = await open();
    const attempts = await Promise.all([next(), next(), next()]);
    expect(attempts).toMatchObject(Array(3).fill({ status: 'PENDING' }));
    expect(await rowOf('partner_payments', paymentId)).toHaveLength(1);
  });

  it('A retry that would otherwise be refused returns the resource that the first request created', async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const first = await contributionTo(goal, saver, freshKey());
    await first.open();
    // For the retry, the goal has an open order: its own.
    const { status, body } = await first.ask();
    expect([status, body.data?.payment_order_id ?? body]).toEqual([201, first.orderId]);
  });
});
