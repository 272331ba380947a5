import { openSubscription } from '../../src/giving/donations/open-subscription.ts';
import { paySubscriptionPeriod } from '../../src/giving/donations/pay-subscription-period.ts';
import { releasePartnerPayment } from '../../src/money-in/collections/settle-partner-payment.ts';
import { stampOpening } from '../../src/platform/openings/idempotency-keys.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

/**
 * Temporal runs work before it is due: because its clock is ahead (see early.full.test.ts), or because an attacker
 * starts an activity, as here.
 */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const strict = { skipsTime: false };
const dayMs = 24 * 60 * 60 * 1000;

describe('A subscription period', () => {
  let donor: BuiltUser;
  let causeId: string;
  beforeEach(async () => {
    donor = await buildIndividual(stack, { balance: '10000' });
    causeId = (await buildActiveCause(stack)).id;
  });
  const open = async (at: Date) => {
    const subscriptionId = newId();
    const opening = {
      userId: donor.id,
      causeId,
      amount: '6000.0000',
      sourceAccountId: donor.accountId,
      interval: 'weekly' as const,
      requestId: 'test',
      stamp: await stampOpening(stack.em()),
    };
    await openSubscription(stack.em(), { subscriptionId, opening, at: at.toISOString() });
    return subscriptionId;
  };
  const pay = (subscriptionId: string, attempt: number, at = new Date()) =>
    paySubscriptionPeriod(stack.em(), { subscriptionId, period: 1, attempt, at: at.toISOString() }, strict);
  const age = (id: string, column: 'started_at' | 'attempted_at', days: number) =>
    stack
      .owner()
      .execute(`update donation_subscriptions set ${column} = ${column} - make_interval(days => ?) where id = ?`, [
        days,
        id,
      ]);

  it('A subscription period is never attempted before its due date, whatever a workflow requests', async () => {
    const id = await open(new Date());
    const early = await pay(id, 1, new Date(Date.now() + 8 * dayMs));
    expect(early).toMatchObject({ period: 1, attempt: 1, earlyByMs: expect.any(Number) });
    expect(early.earlyByMs).toBeGreaterThan(6.9 * dayMs);
    expect(early.earlyByMs).toBeLessThanOrEqual(7 * dayMs);
    expect(await balanceOf(stack, donor.accountId)).toBe('4000.0000');
    await age(id, 'started_at', 8);
    const tried = await pay(id, 1);
    expect(tried).toMatchObject({ period: 1, attempt: 2 });
    expect(tried).not.toHaveProperty('earlyByMs');
  });

  it('A subscription period is not retried within a day after a refusal', async () => {
    const id = await open(new Date());
    await age(id, 'started_at', 8);
    expect(await pay(id, 1)).toMatchObject({ attempt: 2 });
    expect(await pay(id, 2)).toMatchObject({ attempt: 2, earlyByMs: expect.any(Number) });
    await age(id, 'attempted_at', 1);
    expect(await pay(id, 2)).toMatchObject({ attempt: 3 });
  });

  it('Backdating a subscription does not make its next period due', async () => {
    const id = await open(new Date(Date.now() - 365 * dayMs));
    expect(await pay(id, 1)).toMatchObject({ period: 1, attempt: 1, earlyByMs: expect.any(Number) });
  });
});

describe('The net of a partner’s payment', () => {
  it('The net of a partner’s payment is never released early, whatever a workflow requests', async () => {
    const partner = await buildPartner(stack, { settlementDelayHours: 48 });
    const { body } = await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '50000' });
    const { id, payment_code } = body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const read = async () => {
      const [row] = await stack
        .em()
        .execute<{ status: string; released: boolean }[]>(
          'select status, released_at is not null as released from partner_payments where id = ?',
          [id],
        );
      return row;
    };
    await eventually(read, (row) => row?.status === 'PAID');
    const release = () => releasePartnerPayment(stack.em(), stack.deps.sealer, { paymentId: id }, strict);
    expect((await release()).earlyByMs).toBeGreaterThan(1.9 * dayMs);
    expect(await read()).toMatchObject({ released: false });
    await stack
      .owner()
      .execute("update partner_payments set available_at = available_at - interval '3 days' where id = ?", [id]);
    expect(await release()).not.toHaveProperty('earlyByMs');
    expect(await read()).toEqual({ status: 'PAID', released: true });
  });
});
