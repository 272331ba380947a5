import type { Client } from '@temporalio/client';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openTemporal } from '../../../src/wiring/temporal/connect.ts';
import { giveUpStep } from '../../money-out/refunds/give-up-step.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { buildOpenDonations } from './build-donations.ts';

let stack: ProcessStack;
let client: Client;
let creator: BuiltUser;
let superAdmin: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startProcessStack();
  client = openTemporal({ address: stack.env.TEMPORAL_ADDRESS ?? '', namespace: 'default' });
  superAdmin = await buildSuperAdmin(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await stack?.stop();
  await client?.connection.close();
});
beforeEach(async () => {
  creator = await buildOrganizationAdmin(stack);
  causeId = await buildCause(stack, creator, superAdmin);
});
afterEach(() => stack.restart());

/** Makes a subscription start a week earlier, so that the next period is due, and signals its workflow. */
async function letPeriodFallDue(id: string): Promise<void> {
  await stack
    .owner()
    .execute("update donation_subscriptions set started_at = started_at - interval '7 days' where id = ?", [id]);
  await client.workflow.getHandle(`donation-subscription/${id}`).signal('subscriptionStopped');
}

const periodsPaid = (id: string, { token }: BuiltUser, count: number) =>
  eventually(
    async () => (await stack.get(`/v1/donations/subscriptions/${id}`, { token })).body.data,
    ({ periods_paid }) => periods_paid === count,
    60_000,
  );
const subscribe = ({ id, token, accountId }: BuiltUser) =>
  eventually(
    () =>
      stack.post(
        '/v1/donations/subscriptions',
        { cause_id: causeId, amount: '1000', source_account_id: accountId, interval: 'weekly' },
        { token, headers: { 'idempotency-key': `kill-test-${id}` } },
      ),
    ({ status }) => status === 201,
    60_000,
  );
const buildDonor = () => buildIndividual(stack, { balance: '10000' });

const allocation = [
  'allocate-donations.before',
  'allocate-donations.posted',
  'allocate-donations.written',
  'allocate-donations.after',
];
const period = ['pay-subscription-period.before', 'pay-subscription-period.paid', 'pay-subscription-period.after'];
const opened = 'open-subscription.after';
/** All points in the full run, the last first, because a request stops at the first armed point that it reaches. */
const chosen = (points: string[]) => (isFullRun() ? points.toReversed() : points.slice(-1));

describe('A worker killed with -9', () => {
  it('An allocation whose worker is killed with -9 is made once, and its request gets the result', async () => {
    const asked: Promise<{ status: number; body: { data: object } }>[] = [];
    const before = await balanceOf(stack, systemAccounts.openDonationPool);
    let given = 0;
    for (const point of chosen(allocation)) {
      const ids = await buildOpenDonations(stack, await buildDonor(), 20);
      given += 20_000;
      const body = { donation_ids: ids, cause_id: causeId };
      const ask = () => stack.post('/v1/donations/allocate', body, { token: superAdmin.token });
      await stack.holdAt(point, () => asked.push(ask()));
    }
    await stack.kill('worker');
    await stack.restart();
    for (const { status, body } of await Promise.all(asked)) {
      expect({ status, data: body.data }).toMatchObject({ status: 200, data: { allocated_count: 20 } });
    }
    const after = await balanceOf(stack, systemAccounts.openDonationPool);
    expect(Number(after) - Number(before)).toBe(0);
    expect(await balanceOf(stack, creator.accountId)).toBe(`${given}.0000`);
    expect(await currentAmountOf(stack, creator, causeId)).toBe(given);
  }, 180_000);

  it('Each period of a subscription is paid once when the worker is killed with -9', async () => {
    const made: { donor: BuiltUser; answer: ReturnType<typeof subscribe>; held?: string }[] = [];
    for (const held of chosen(period)) {
      const one = await buildDonor();
      const answer = subscribe(one);
      const { id } = (await answer).body.data;
      expect(await balanceOf(stack, one.accountId)).toBe('9000.0000');
      made.push({ donor: one, answer, held: id });
      await stack.holdAt(held, () => letPeriodFallDue(id));
    }
    const first = await buildDonor();
    await stack.holdAt(opened, () => made.push({ donor: first, answer: subscribe(first) }));
    await stack.kill('worker');
    await stack.restart();
    for (const { donor, answer, held } of made) {
      if (held !== undefined && !isFullRun()) await giveUpStep(stack, `donation-subscription/${held}`);
      const { id } = (await answer).body.data;
      if (held === undefined) await letPeriodFallDue(id);
      await periodsPaid(id, donor, 2);
      expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
      const list = await stack.get('/v1/donations', { token: donor.token });
      expect(list.body.data.total).toBe(2);
      const stopped = await stack.delete(`/v1/donations/subscriptions/${id}`, undefined, { token: donor.token });
      expect(stopped.body.data.status).toBe('stopped');
      expect(await client.workflow.getHandle(`donation-subscription/${id}`).result()).toBe('stopped');
    }
  }, 180_000);
});

describe('A subscription stopped while a period is being paid', () => {
  it('A subscription stopped while a period is being paid completes its workflow', async () => {
    const donor = await buildDonor();
    const { id } = (await subscribe(donor)).body.data;
    stack.arm('pay-subscription-period.after=delay');
    await letPeriodFallDue(id);
    await periodsPaid(id, donor, 2);
    await stack.delete(`/v1/donations/subscriptions/${id}`, undefined, { token: donor.token });
    stack.arm('');
    expect(await client.workflow.getHandle(`donation-subscription/${id}`).result()).toBe('stopped');
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
  });
});
