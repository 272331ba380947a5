import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
  fund,
} from '../../support/build.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { createSubscriber } from './create-subscriber.ts';

let stack: TimeSkippingStack;
let creator: BuiltUser;
let superAdmin: BuiltUser;
let donor: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startTimeSkippingStack({ sandbox: false });
  creator = await buildOrganizationAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  donor = await buildIndividual(stack, { balance: '10000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const dayMs = 24 * 60 * 60 * 1000;
const { begin, read, stop, donations, attemptsOf } = createSubscriber(() => ({ stack, donor, causeId }));
const endOf = (id: string) => stack.time.client.workflow.getHandle(`donation-subscription/${id}`).result();
const sleepUntil = async (instant: number) => {
  const left = instant - Number(await stack.time.currentTimeMs());
  if (left > 0) await stack.time.sleep(left);
};
const paidPeriods = (id: string, count: number) =>
  eventually(
    () => read(id),
    (subscription) => subscription.periods_paid >= count || subscription.status !== 'active',
  );

describe('Subscriptions under time skipping', () => {
  it('A year of monthly payments from 31 January falls on the last day of each shorter month', async () => {
    const now = new Date(Number(await stack.time.currentTimeMs()));
    const year = now.getUTCFullYear() + 1;
    await sleepUntil(Date.parse(`${year}-01-31T12:00:00+07:00`));
    await fund(stack, donor.accountId, '10000');
    const { id, started_at } = await begin();
    expect(started_at.slice(0, 10)).toBe(`${year}-01-31`);
    await sleepUntil(Date.parse(`${year + 1}-01-31T12:00:00+07:00`) + dayMs);
    await paidPeriods(id, 13);
    const february = year % 4 === 0 ? '29' : '28';
    const ends = ['31', february, '31', '30', '31', '30', '31', '31', '30', '31', '30', '31'];
    expect((await attemptsOf(id)).map(({ due }) => due)).toEqual([
      ...ends.map((day, month) => `${year}-${String(month + 1).padStart(2, '0')}-${day}`),
      `${year + 1}-01-31`,
    ]);
    expect((await donations()).total).toBe(13);
    expect(await balanceOf(stack, donor.accountId)).toBe('7000.0000');
    expect(await currentAmountOf(stack, donor, causeId)).toBe(13_000);
    await stop(id);
    expect(await endOf(id)).toBe('stopped');
  });

  it('A year of weekly payments has 53 payments, including the first', async () => {
    await fund(stack, donor.accountId, '100000');
    const { id, started_at } = await begin({ interval: 'weekly' });
    await sleepUntil(Date.parse(started_at) + 52 * 7 * dayMs + dayMs);
    await paidPeriods(id, 53);
    expect((await donations()).total).toBe(53);
    await stop(id);
  });

  it('A refused period is retried daily, and the next one keeps its date', async () => {
    const { id, started_at } = await begin({ amount: '6000', interval: 'weekly' });
    const due = Date.parse(started_at) + 7 * dayMs;
    await sleepUntil(due + dayMs + dayMs / 2);
    const refused = await eventually(
      () => attemptsOf(id),
      (attempts) => attempts.length === 3,
    );
    expect(refused.map(({ period, outcome }) => [period, outcome])).toEqual([
      [0, 'paid'],
      [1, 'refused'],
      [1, 'refused'],
    ]);
    const third = Date.parse((await read(id)).next_payment_at) - due - 2 * dayMs;
    expect(third).toBeGreaterThanOrEqual(0);
    expect(third).toBeLessThan(600_000);
    await fund(stack, donor.accountId, '2000');
    await sleepUntil(due + 3 * dayMs);
    expect(await paidPeriods(id, 2)).toMatchObject({ status: 'active', periods_paid: 2 });
    expect(Date.parse((await read(id)).next_payment_at)).toBe(due + 7 * dayMs);
    await stop(id);
  });

  const setStatus = async (path: string, status: 'active' | 'suspended') =>
    expect(await stack.patch(path, { status }, { token: superAdmin.token })).toMatchObject({ status: 200 });
  it.each<[string, () => Promise<string>]>([
    ['its donor is', async () => `/v1/users/${donor.id}`],
    [
      'its donor’s organization is',
      async () => {
        const { organizationId } = await buildOrganizationAdmin(stack);
        donor = await buildIndividual(stack, { balance: '10000', organizationId: organizationId ?? '' });
        return `/v1/organizations/${organizationId}`;
      },
    ],
  ])('A subscription pays nothing while %s suspended, but retries the period afterwards', async (_, build) => {
    const whom = await build();
    const { id, started_at } = await begin({ interval: 'weekly' });
    const due = Date.parse(started_at) + 7 * dayMs;
    await setStatus(whom, 'suspended');
    await sleepUntil(due + dayMs / 2);
    const outcomes = async () => (await attemptsOf(id)).map(({ outcome }) => outcome);
    expect(await eventually(outcomes, (made) => made.length === 2)).toEqual(['paid', 'refused']);
    expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');
    await setStatus(whom, 'active');
    await sleepUntil(due + dayMs * 1.5);
    expect(await eventually(outcomes, (made) => made.length === 3)).toEqual(['paid', 'refused', 'paid']);
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
    // The suspension has permanently revoked the donor's tokens.
    const sessions = { userId: donor.id, userType: 'individual', organizationId: donor.organizationId } as const;
    const { token } = await stack.deps.tokens.sign({ ...sessions, secondFactor: null });
    await stop(id, { ...donor, token });
  });

  it('A subscription fails after three refusals of one period', async () => {
    const { id } = await begin({ amount: '6000' });
    expect(await endOf(id)).toBe('failed');
    expect(await read(id)).toMatchObject({ status: 'failed', periods_paid: 1, next_payment_at: null });
    expect((await attemptsOf(id)).map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'paid'],
      [1, 'refused'],
      [2, 'refused'],
      [3, 'refused'],
    ]);
    expect((await stop(id)).body.data.status).toBe('failed');
  });

  it('The three attempts stay a day apart after an outage, and each period is paid', async () => {
    const { id } = await begin({ amount: '6000', interval: 'weekly' });
    const startedAt = Number(await stack.time.currentTimeMs()) - 24 * dayMs;
    // The workflow is lost and restarted from its row with three periods overdue.
    const workflowId = `donation-subscription/${id}`;
    await loseWorkflow(stack.time.client, workflowId);
    await stack
      .owner()
      .execute('update donation_subscriptions set started_at = ? where id = ?', [new Date(startedAt), id]);
    await stack.time.client.workflow.start('donationSubscription', {
      workflowId,
      taskQueue: stack.deps.workflows.taskQueue,
      args: [{ subscriptionId: id }],
    });
    const made = async () =>
      (await attemptsOf(id)).slice(1).map(({ period, attempt, outcome }) => `${period}.${attempt} ${outcome}`);
    await eventually(made, (attempts) => attempts.length > 0);
    // Once another subscription has started, everything due has been done.
    await begin({ amount: '1' });
    expect({ made: await made(), status: (await read(id)).status }).toEqual({
      made: ['1.1 refused'],
      status: 'active',
    });
    const next = Date.parse((await read(id)).next_payment_at);
    expect(Math.abs(next - Number(await stack.time.currentTimeMs()) - dayMs)).toBeLessThan(60_000);
    await sleepUntil(next - 60_000);
    expect(await made()).toEqual(['1.1 refused']);
    await sleepUntil(next + 60_000);
    expect(await eventually(made, (attempts) => attempts.length > 1)).toEqual(['1.1 refused', '1.2 refused']);
    await fund(stack, donor.accountId, '20000');
    await sleepUntil(next + dayMs + 120_000);
    expect(await eventually(made, (attempts) => attempts.length > 4)).toEqual([
      '1.1 refused',
      '1.2 refused',
      '1.3 paid',
      '2.1 paid',
      '3.1 paid',
    ]);
    expect(Date.parse((await read(id)).next_payment_at)).toBe(startedAt + 28 * dayMs);
    await stop(id);
  });
});
