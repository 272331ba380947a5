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
let donor: BuiltUser;
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
  donor = await buildIndividual(stack, { balance: '10000' });
  causeId = await buildCause(stack, creator, superAdmin);
});
afterEach(() => stack.restart());

/** Waits until the armed worker killed itself, and starts another. */
async function dieAndRestart(): Promise<void> {
  await stack.worker.exited;
  await stack.restart();
}

/** As if it had begun a week earlier; a hint makes its workflow look, and the next period is due. */
async function letPeriodFallDue(id: string): Promise<void> {
  await stack
    .owner()
    .execute("update donation_subscriptions set started_at = started_at - interval '7 days' where id = ?", [id]);
  await client.workflow.getHandle(`donation-subscription/${id}`).signal('subscriptionStopped');
}

const periodsPaid = (id: string, count: number) =>
  eventually(
    async () => (await stack.get(`/v1/donations/subscriptions/${id}`, { token: donor.token })).body.data,
    ({ periods_paid }) => periods_paid === count,
    60_000,
  );

const allocation = [
  'allocate-donations.before',
  'allocate-donations.posted',
  'allocate-donations.written',
  'allocate-donations.after',
];
const period = ['pay-subscription-period.before', 'pay-subscription-period.paid', 'pay-subscription-period.after'];
const chosen = (points: string[]) => (isFullRun() ? points : points.slice(-1));

describe('After kill -9 of the worker', () => {
  it.each(chosen(allocation))(
    'at %s an allocation is made completely and once, and its request is answered',
    async (point) => {
      const ids = await buildOpenDonations(stack, donor, 20);
      const before = await balanceOf(stack, systemAccounts.openDonationPool);
      stack.arm(`${point}=kill`);
      const dying = dieAndRestart();
      const { status, body } = await stack.post(
        '/v1/donations/allocate',
        { donation_ids: ids, cause_id: causeId },
        { token: superAdmin.token },
      );
      await dying;
      expect({ status, data: body.data }).toMatchObject({ status: 200, data: { allocated_count: 20 } });
      const after = await balanceOf(stack, systemAccounts.openDonationPool);
      expect(Number(before) - Number(after)).toBe(20_000);
      expect(await balanceOf(stack, creator.accountId)).toBe('20000.0000');
      expect(await currentAmountOf(stack, creator, causeId)).toBe(20_000);
    },
    90_000,
  );

  it.each([...chosen(['open-subscription.after', ...period])])(
    'at %s each period of a subscription is paid once',
    async (point) => {
      const isFirst = point.startsWith('open');
      if (isFirst) stack.arm(`${point}=kill`);
      const dying = isFirst ? dieAndRestart() : undefined;
      const body = { cause_id: causeId, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
      const key = { 'idempotency-key': `kill-test-${donor.id}` };
      const made = await eventually(
        () => stack.post('/v1/donations/subscriptions', body, { token: donor.token, headers: key }),
        ({ status }) => status === 201,
        60_000,
      );
      await dying;
      const { id } = made.body.data;
      expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');

      if (!isFirst) stack.arm(`${point}=kill`);
      const dyingNow = isFirst ? undefined : dieAndRestart();
      await letPeriodFallDue(id);
      await dyingNow;
      if (!isFullRun()) await giveUpStep(stack, `donation-subscription/${id}`);
      await periodsPaid(id, 2);
      expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
      const list = await stack.get('/v1/donations', { token: donor.token });
      expect(list.body.data.total).toBe(2);
      const stopped = await stack.delete(`/v1/donations/subscriptions/${id}`, undefined, { token: donor.token });
      expect(stopped.body.data.status).toBe('stopped');
      expect(await client.workflow.getHandle(`donation-subscription/${id}`).result()).toBe('stopped');
    },
    120_000,
  );
});

describe('A subscription stopped while a period is being paid', () => {
  it('ends: the hint is not lost between the payment and its report', async () => {
    const body = { cause_id: causeId, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
    const { id } = (await stack.post('/v1/donations/subscriptions', body, { token: donor.token })).body.data;
    stack.arm('pay-subscription-period.after=delay');
    await letPeriodFallDue(id);
    await periodsPaid(id, 2);
    await stack.delete(`/v1/donations/subscriptions/${id}`, undefined, { token: donor.token });
    stack.arm('');
    expect(await client.workflow.getHandle(`donation-subscription/${id}`).result()).toBe('stopped');
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
  });
});
