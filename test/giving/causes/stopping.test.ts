import { paySubscriptionPeriod } from '../../../src/giving/donations/pay-subscription-period.ts';
import { newId } from '../../../src/shared/ids.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { give } from '../donations/build-donations.ts';
import { buildCause, currentAmountOf } from './build-cause.ts';

let stack: Stack;
let creator: BuiltUser;
let donor: BuiltUser;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  creator = await buildOrganizationAdmin(stack);
  donor = await buildIndividual(stack, { balance: '1000000' });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(async () => {
  await expectChecksEmpty(stack);
  await stack.stop();
});

const causes = '/v1/charitable-causes';
const reason = 'Reported as false';
const decide = (id: string, what: 'stop' | 'reinstate', { user = superAdmin, body = { reason } as object } = {}) =>
  stack.post(`${causes}/${id}/${what}`, body, { token: user.token });
const change = (id: string, body: object) => stack.patch(`${causes}/${id}`, body, { token: creator.token });
const approve = (id: string) => stack.patch(`${causes}/${id}/approve`, {}, { token: superAdmin.token });
const statusOf = async (id: string) =>
  (await stack.get(`${causes}/${id}`, { token: creator.token })).body.charitable_cause.status;
const eventsOf = async (id: string) =>
  (await stack.get(`/v1/events?resource_id=${id}&order=asc`, { token: superAdmin.token })).body.data.items;
const approved = () => buildCause(stack, creator, superAdmin);

describe('POST /v1/charitable-causes/:id/stop', () => {
  it('A cause can be stopped from any status, and reinstating restores that status', async () => {
    const id = await approved();
    const others = ['pending', 'new', 'approved', 'in_progress', 'completed', 'cancelled', 'rejected', 'deactivated'];
    for (const status of ['active', ...others]) {
      await change(id, { status });
      const stopped = await decide(id, 'stop');
      expect(stopped).toMatchObject({ status: 200, body: { data: { id, status: 'rejected' } } });
      const back = await decide(id, 'reinstate');
      expect(back).toMatchObject({ status: 200, body: { data: { id, status } } });
      expect(await statusOf(id)).toBe(status);
    }
  });

  it('Stopping a cause records an event of high impact with the reason and the actor', async () => {
    const id = await approved();
    await decide(id, 'stop', { body: { reason: '  Reported as false ' } });
    await decide(id, 'reinstate', { body: { reason: 'It was true' } });
    const high = { event: 'RESOURCE_UPDATED', impact: 'HIGH', actor_id: superAdmin.id };
    expect((await eventsOf(id)).slice(-2)).toMatchObject([
      { ...high, data: { status: 'rejected', previous_status: 'active', stopped: true, reason } },
      { ...high, data: { status: 'active', previous_status: 'rejected', stopped: false, reason: 'It was true' } },
    ]);
  });

  it('A stopped cause refuses donations, subscriptions and allocations until reinstated', async () => {
    const id = await approved();
    expect((await give(stack, donor, 1000, id)).status).toBe(201);
    await decide(id, 'stop');
    const { token } = donor;
    const subscription = { cause_id: id, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
    const byGateway = { reference_type: 'charitable_cause_donate', reference_id: id, payment_id: 1, amount: 50_000 };
    const allocation = { donation_ids: [newId()], cause_id: id };
    expect((await give(stack, donor, 1000, id)).status).toBe(400);
    expect((await stack.post('/v1/payments/gateway', byGateway, { token })).status).toBe(400);
    expect((await stack.post('/v1/donations/subscriptions', subscription, { token })).status).toBe(400);
    const preview = await stack.post('/v1/donations/allocate/preview', allocation, { token: superAdmin.token });
    expect(preview.status).toBe(400);
    expect(await currentAmountOf(stack, creator, id)).toBe(1000);
    await decide(id, 'reinstate');
    expect((await give(stack, donor, 1000, id)).status).toBe(201);
  });

  it('A pending donation to a stopped cause is still credited', async () => {
    const id = await approved();
    const { body } = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'charitable_cause_donate', reference_id: id, payment_id: 1, amount: 50_000 },
      { token: donor.token },
    );
    await decide(id, 'stop');
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      () => currentAmountOf(stack, creator, id),
      (amount) => amount === 50_000,
    );
    expect(await statusOf(id)).toBe('rejected');
  });

  it('Stopping a cause refuses a donation and postpones a subscription period waiting for the account', async () => {
    const id = await approved();
    const subscription = { cause_id: id, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
    const subscribed = await stack.post('/v1/donations/subscriptions', subscription, { token: donor.token });
    const subscriptionId = subscribed.body.data.id;
    const waiting: Promise<unknown>[] = [];
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from account_balances where account_id = ? and shard = 0 for update', [
        donor.accountId,
      ]);
      waiting.push(give(stack, donor, 1000, id));
      waiting.push(
        paySubscriptionPeriod(
          stack.em(),
          { subscriptionId, period: 1, attempt: 1, at: new Date().toISOString() },
          { skipsTime: true },
        ),
      );
      await untilLocked(stack, { count: 2, text: 'lock_source' });
      expect((await decide(id, 'stop')).status).toBe(200);
    });
    expect(await waiting[0]).toMatchObject({ status: 400 });
    await waiting[1];
    const [row] = await stack
      .em()
      .execute('select periods_paid, refusals, postponed_at from donation_subscriptions where id = ?', [
        subscriptionId,
      ]);
    expect(row).toEqual({ periods_paid: 1, refusals: 0, postponed_at: expect.any(String) });
    expect(await currentAmountOf(stack, creator, id)).toBe(1000);
  });

  it('A stop cannot be undone by a change of status, a deactivation or an approval', async () => {
    const id = await approved();
    await decide(id, 'stop');
    for (const status of ['active', 'pending', 'cancelled']) {
      expect(await change(id, { status })).toMatchObject({ status: 403 });
    }
    expect((await stack.delete(`${causes}/${id}`, undefined, { token: creator.token })).status).toBe(403);
    expect((await approve(id)).status).toBe(400);
    expect(await statusOf(id)).toBe('rejected');
    expect(await change(id, { status: 'rejected', description: 'As it is' })).toMatchObject({
      status: 200,
      body: { data: { status: 'rejected', description: 'As it is' } },
    });
  });

  it('A stop is refused if repeated, without a valid reason or by anyone but a super admin', async () => {
    const id = await approved();
    expect((await decide(id, 'reinstate')).status).toBe(400);
    for (const body of [{}, { reason: ' ab ' }, { reason: 'x'.repeat(301) }, { reason: null }, { reason, more: 1 }]) {
      expect((await decide(id, 'stop', { body })).status).toBe(400);
    }
    expect((await decide(newId(), 'stop')).status).toBe(404);
    expect((await decide(newId(), 'reinstate')).status).toBe(404);
    const platform = await buildPlatformAdmin(stack);
    for (const user of [creator, donor, platform]) expect((await decide(id, 'stop', { user })).status).toBe(403);
    expect(await statusOf(id)).toBe('active');
    expect((await decide(id, 'stop')).status).toBe(200);
    expect((await decide(id, 'stop')).status).toBe(400);
  });

  it('Concurrent stops of one cause have one effect', async () => {
    const size = isFullRun() ? 50 : 12;
    const id = await approved();
    const answers = await Promise.all(Array.from({ length: size }, () => asAClient(() => decide(id, 'stop'))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(size - 1).fill(400)]);
    expect((await eventsOf(id)).filter(({ impact }: { impact: string }) => impact === 'HIGH')).toHaveLength(2);
    expect((await decide(id, 'reinstate')).body.data.status).toBe('active');
  });
});

describe('A change to the approved fields of a cause', () => {
  it.each([
    { name: 'Cleaner water' },
    { regulations: 'None' },
    { benefit: 'Water for all' },
    { target_amount: 9_000_000 },
  ])('A change of %p is accepted and makes an approved cause pending and unapproved again', async (body) => {
    const id = await approved();
    expect(await change(id, body)).toMatchObject({
      status: 200,
      body: { data: { ...body, status: 'pending', approved_at: null } },
    });
    expect((await give(stack, donor, 1000, id)).status).toBe(400);
    expect((await change(id, { status: 'active' })).status).toBe(403);
    expect(await approve(id)).toMatchObject({ status: 200, body: { data: { ...body, status: 'active' } } });
    const [, , changed] = await eventsOf(id);
    expect(changed.data).toMatchObject({ approved: false, status: 'pending', previous_status: 'active' });
  });

  it('An unchanged value, and any change of the description, keeps the approval', async () => {
    const id = await approved();
    const same = { name: 'Clean water', target_amount: 1_000_000, status: 'active', description: 'A deeper well' };
    expect(await change(id, same)).toMatchObject({ status: 200, body: { data: { status: 'active' } } });
  });

  it('A change of approved fields that also sets the cause active is rejected as a whole', async () => {
    const id = await approved();
    await change(id, { status: 'in_progress' });
    expect((await change(id, { status: 'active', name: 'Other' })).status).toBe(403);
    expect((await stack.get(`${causes}/${id}`, { token: creator.token })).body.charitable_cause).toMatchObject({
      status: 'in_progress',
      name: 'Clean water',
    });
  });

  it('A stopped cause whose approved fields change is pending once reinstated', async () => {
    const id = await approved();
    await decide(id, 'stop');
    expect(await change(id, { name: 'Other' })).toMatchObject({
      status: 200,
      body: { data: { name: 'Other', status: 'rejected', approved_at: null } },
    });
    expect((await decide(id, 'reinstate')).body.data.status).toBe('pending');
    expect((await approve(id)).body.data.status).toBe('active');
  });

  it('A pending donation is credited even if the approved fields of its cause changed', async () => {
    const id = await approved();
    const { body } = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'charitable_cause_donate', reference_id: id, payment_id: 1, amount: 50_000 },
      { token: donor.token },
    );
    await change(id, { benefit: 'Water for all' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      () => currentAmountOf(stack, creator, id),
      (amount) => amount === 50_000,
    );
  });
});

describe('A cause of an inactive or suspended organization', () => {
  it.each(casesOf(['inactive', 'suspended']))(
    'A cause whose organization is %s accepts no donations of any kind until the organization is active again',
    async (status) => {
      const admin = await buildOrganizationAdmin(stack);
      const id = await buildCause(stack, admin, superAdmin);
      const set = (to: string) =>
        stack.patch(`/v1/organizations/${admin.organizationId}`, { status: to }, { token: superAdmin.token });
      expect((await set(status)).status).toBe(200);
      const { token } = donor;
      const subscription = { cause_id: id, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
      const byGateway = { reference_type: 'charitable_cause_donate', reference_id: id, payment_id: 1, amount: 50_000 };
      const allocation = { donation_ids: [newId()], cause_id: id };
      expect(await give(stack, donor, 1000, id)).toMatchObject({
        status: 400,
        body: { message: `reference_id: the charitable cause is of an organization that is ${status}` },
      });
      expect((await stack.post('/v1/payments/gateway', byGateway, { token })).status).toBe(400);
      expect((await stack.post('/v1/donations/subscriptions', subscription, { token })).status).toBe(400);
      const preview = await stack.post('/v1/donations/allocate/preview', allocation, { token: superAdmin.token });
      expect(preview.status).toBe(400);
      expect((await set('active')).status).toBe(200);
      expect((await give(stack, donor, 1000, id)).status).toBe(201);
    },
  );
});

describe('Approval', () => {
  it('Only a pending cause can be approved', async () => {
    const id = await buildCause(stack, creator);
    for (const status of ['new', 'in_progress', 'completed', 'cancelled', 'rejected', 'deactivated']) {
      await change(id, { status });
      expect([status, (await approve(id)).status]).toEqual([status, 400]);
    }
    await change(id, { status: 'pending' });
    expect(await approve(id)).toMatchObject({ status: 200, body: { data: { status: 'active' } } });
  });
});
