import { allocateDonations } from '../../../src/giving/donations/allocate-donations.ts';
import { packIds } from '../../../src/giving/donations/allocation.ts';
import { openSubscription } from '../../../src/giving/donations/open-subscription.ts';
import { paySubscriptionPeriod } from '../../../src/giving/donations/pay-subscription-period.ts';
import { openPartnerPayment } from '../../../src/money-in/collections/open-partner-payment.ts';
import { preparePartnerPayment } from '../../../src/money-in/collections/prepare-partner-payment.ts';
import { openPaymentOrder } from '../../../src/money-in/payments/open-payment-order.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { allocationBatchIdFor, newId } from '../../../src/shared/ids.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildSuperAdmin,
  fund,
} from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildOrganizationCause } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { meetChange, type Suspended, suspension } from '../../support/meet-change.ts';
import { buildPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A user suspended while their request waits pays and collects nothing when the wait is over. */
let stack: Stack;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Returns the answer of `act` when the payer was suspended while it waited for the payer's account. */
async function suspendedMeanwhile<T>(payer: BuiltUser, suspend: () => Promise<unknown>, act: () => Promise<T>) {
  let acting: Promise<PromiseSettledResult<T>[]> | undefined;
  await stack.owner().transactional(async (tx) => {
    await tx.execute('select 1 from account_balances where account_id = ? and shard = 0 for update', [payer.accountId]);
    acting = Promise.allSettled([act()]);
    await untilLocked(stack);
    await suspend();
  });
  const [outcome] = (await acting) ?? [];
  return outcome;
}
const suspendUser = async ({ id }: BuiltUser) =>
  expect((await stack.patch(`/v1/users/${id}`, { status: 'suspended' }, { token: superAdmin.token })).status).toBe(200);
const suspendOrganization = async ({ organizationId }: BuiltUser) =>
  expect(
    (await stack.patch(`/v1/organizations/${organizationId}`, { status: 'suspended' }, { token: superAdmin.token }))
      .status,
  ).toBe(200);

const payers: [string, () => Promise<BuiltUser>, (payer: BuiltUser) => Promise<unknown>][] = [
  ['A person who is suspended', () => buildIndividual(stack, { balance: '10000' }), suspendUser],
  [
    'An admin whose organization is suspended',
    () => buildOrganizationAdmin(stack, { balance: '10000' }),
    suspendOrganization,
  ],
];

describe.each(casesOf(payers))('%s while a payment waits for their account', (_, build, suspend) => {
  const unpaid = async (payer: BuiltUser, act: () => Promise<{ status: number }>) => {
    const outcome = await suspendedMeanwhile(payer, () => suspend(payer), act);
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { status: 403 } });
    expect(await balanceOf(stack, payer.accountId)).toBe('10000.0000');
  };

  it('A donation is refused if its payer is suspended while it waits for the payer’s account', async () => {
    const payer = await build();
    const { id } = await buildActiveCause(stack);
    const body = { reference_type: 'charitable_cause_donate', reference_id: id, amount: 1_000 };
    await unpaid(payer, () =>
      stack.post('/v1/payments/balance', { ...body, source_account_id: payer.accountId }, { token: payer.token }),
    );
  });

  it('A pocket transfer is refused if its payer is suspended while it waits for the payer’s account', async () => {
    const payer = await build();
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token })).body.data;
    await unpaid(payer, () =>
      stack.post(
        `/v1/accounts/${payer.accountId}/transfers`,
        { destination_account_id: pocket.id, amount: '1000' },
        { token: payer.token },
      ),
    );
  });

  it('A subscription period is refused if its payer is suspended while it waits for the payer’s account', async () => {
    const payer = await build();
    const { id: causeId } = await buildActiveCause(stack);
    const subscriptionId = newId();
    const opening = {
      userId: payer.id,
      causeId,
      amount: '1000.0000',
      sourceAccountId: payer.accountId,
      interval: 'weekly' as const,
      requestId: 'test',
      stamp: await stampOpening(stack.em()),
    };
    await openSubscription(stack.em(), { subscriptionId, opening, at: new Date().toISOString() });
    const outcome = await suspendedMeanwhile(
      payer,
      () => suspend(payer),
      () =>
        paySubscriptionPeriod(
          stack.em(),
          { subscriptionId, period: 1, attempt: 1, at: new Date().toISOString() },
          { skipsTime: true },
        ),
    );
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { period: 1, attempt: 2 } });
    expect(await balanceOf(stack, payer.accountId)).toBe('9000.0000');
  });
});

/** Returns the answer or error of `begin` when it met an uncommitted suspension. */
const whileSuspending = (table: Suspended, id: string | null, begin: () => Promise<unknown>) =>
  meetChange(stack, suspension(table, id), begin).catch((error) => error);

describe('Partners’ payments opened during a change', () => {
  const body = { method: 'virtual_account' as const, channel: 'BNI', amount: '50000' };

  it.each<[string, boolean, 'partners' | 'organizations', string]>([
    ['its partner is being suspended', false, 'partners', 'AUTH_PARTNER_INACTIVE'],
    ['the partner’s organization is being suspended', false, 'organizations', 'AUTH_PARTNER_INACTIVE'],
    ['the organization that it names is being suspended', true, 'organizations', 'RESOURCE_NOT_LINKED'],
  ])('A partner’s payment opened while %s is refused', async (_, isForAnother, table, code) => {
    const partner = await buildPartner(stack, { permissions: ['collect-payment'] });
    const other = isForAnother ? await buildOrganization(stack) : undefined;
    if (other) await partner.administer('post', '/organizations', { organization_id: other });
    const paymentId = newId();
    const stamp = await stampOpening(stack.em());
    const prepared = await preparePartnerPayment(stack.em(), stack.deps.sealer, {
      paymentId,
      partnerId: partner.id,
      body: { ...body, organization_id: other },
      idempotency: { keyHash: hashKey(paymentId), fingerprint: 'f' },
      requestId: 'test',
    });
    const suspended = table === 'partners' ? partner.id : (other ?? partner.organizationId);
    const beginning = await whileSuspending(table, suspended, () =>
      openPartnerPayment(stack.em(), stack.deps.sealer, {
        paymentId,
        opening: { ...prepared, stamp },
        at: new Date().toISOString(),
      }),
    );
    expect(beginning).toMatchObject({ code });
    expect(await stack.em().execute('select 1 from partner_payments where id = ?', [paymentId])).toEqual([]);
  });

  it('A partner’s payment opened while the link of its organization is being revoked is refused', async () => {
    const partner = await buildPartner(stack, { permissions: ['collect-payment'] });
    const organization_id = await buildOrganization(stack);
    await partner.administer('post', '/organizations', { organization_id });
    const paymentId = newId();
    const stamp = await stampOpening(stack.em());
    const prepared = await preparePartnerPayment(stack.em(), stack.deps.sealer, {
      paymentId,
      partnerId: partner.id,
      body: { ...body, organization_id },
      idempotency: { keyHash: hashKey(paymentId), fingerprint: 'f' },
      requestId: 'test',
    });
    const sql = 'update partner_organizations set revoked_at = now() where partner_id = ?';
    const beginning = await meetChange(stack, { table: 'partners', id: partner.id, sql }, () => {
      const place = { paymentId, opening: { ...prepared, stamp }, at: new Date().toISOString() };
      return openPartnerPayment(stack.em(), stack.deps.sealer, place).catch((error) => error);
    });
    expect(beginning).toMatchObject({ code: 'RESOURCE_NOT_LINKED' });
    expect(await stack.em().execute('select 1 from partner_payments where id = ?', [paymentId])).toEqual([]);
  });
});

describe('Orders opened during a change', () => {
  it.each<[string, () => Promise<BuiltUser>, (payer: BuiltUser) => [Suspended, string | null]]>([
    ['its payer is being suspended', () => buildIndividual(stack), ({ id }) => ['users', id]],
    [
      'the organization of its payer is being suspended',
      () => buildOrganizationAdmin(stack),
      ({ organizationId }) => ['organizations', organizationId],
    ],
  ])('An order opened while %s is refused', async (_, build, of) => {
    const payer = await build();
    const orderId = newId();
    const opening = {
      order: {
        user_id: payer.id,
        organization_id: payer.organizationId,
        reference_type: 'account_top_up' as const,
        reference_id: payer.accountId,
        target_account_id: payer.accountId,
        payment_id: 1,
        nominal: '50000.0000',
        admin_fee: '4000.0000',
        texts_sealed: null,
        request_id: 'test',
        on_behalf_of: null,
      },
      claim: null,
      stamp: await stampOpening(stack.em()),
    };
    const [table, id] = of(payer);
    const beginning = await whileSuspending(table, id, () =>
      openPaymentOrder(stack.em(), { orderId, opening, at: new Date().toISOString() }, stack.deps),
    );
    expect(beginning).toMatchObject({ code: 'FORBIDDEN' });
    expect(await stack.em().execute('select 1 from payment_orders where id = ?', [orderId])).toEqual([]);
  });
});

describe('Orders for a cause', () => {
  it('An order opened while the organization of its cause is being suspended is refused', async () => {
    const [payer, owner] = [await buildIndividual(stack), await buildOrganizationAdmin(stack)];
    const { id: causeId } = await buildOrganizationCause(stack, owner);
    const orderId = newId();
    const opening = {
      order: {
        user_id: payer.id,
        organization_id: null,
        reference_type: 'charitable_cause_donate' as const,
        reference_id: causeId,
        target_account_id: owner.accountId,
        payment_id: 1,
        nominal: '50000.0000',
        admin_fee: '4000.0000',
        texts_sealed: null,
        request_id: 'test',
        on_behalf_of: null,
      },
      claim: null,
      stamp: await stampOpening(stack.em()),
    };
    const beginning = await whileSuspending('organizations', owner.organizationId, () =>
      openPaymentOrder(stack.em(), { orderId, opening, at: new Date().toISOString() }, stack.deps),
    );
    expect(beginning).toMatchObject({ code: 'REQUEST_INVALID' });
    expect(await stack.em().execute('select 1 from payment_orders where id = ?', [orderId])).toEqual([]);
  });
});

describe('A donation from a balance', () => {
  it('A donation is refused if its cause’s organization was suspended between check and payment', async () => {
    const [donor, owner] = [await buildIndividual(stack, { balance: '10000' }), await buildOrganizationAdmin(stack)];
    const { id: reference_id } = await buildOrganizationCause(stack, owner);
    let giving: Promise<{ status: number }> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('lock table cause_totals in exclusive mode');
      const body = {
        reference_type: 'charitable_cause_donate',
        reference_id,
        source_account_id: donor.accountId,
        amount: 10_000,
      };
      giving = stack.post('/v1/payments/balance', body, { token: donor.token });
      await untilLocked(stack);
      await suspendOrganization(owner);
    });
    expect((await giving)?.status).toBe(400);
    expect(await balanceOf(stack, donor.accountId)).toBe('10000.0000');
    expect(await stack.em().execute('select 1 from donations where cause_id = ?', [reference_id])).toEqual([]);
  });
});

describe('A subscription period being paid', () => {
  it('Stopping a cause waits for a subscription period that is being paid', async () => {
    const donor = await buildIndividual(stack, { balance: '10000' });
    const { id: causeId } = await buildActiveCause(stack);
    const subscriptionId = newId();
    const opening = {
      userId: donor.id,
      causeId,
      amount: '1000.0000',
      sourceAccountId: donor.accountId,
      interval: 'weekly' as const,
      requestId: 'test',
      stamp: await stampOpening(stack.em()),
    };
    await openSubscription(stack.em(), { subscriptionId, opening, at: new Date().toISOString() });
    let isStopped = false;
    let both: Promise<unknown> | undefined;
    await stack.owner().transactional(async (tx) => {
      // The lock delays the payment.
      await tx.execute('lock table cause_totals in exclusive mode');
      const paying = paySubscriptionPeriod(
        stack.em(),
        { subscriptionId, period: 1, attempt: 1, at: new Date().toISOString() },
        { skipsTime: true },
      );
      await untilLocked(stack);
      const path = `/v1/charitable-causes/${causeId}/stop`;
      const stopping = stack.post(path, { reason: 'a complaint' }, { token: superAdmin.token }).then(({ status }) => {
        isStopped = true;
        return status;
      });
      await Promise.race([stopping, untilLocked(stack, { count: 2 })]);
      expect(isStopped).toBe(false);
      both = Promise.all([paying, stopping]);
    });
    expect(await both).toEqual([expect.anything(), 200]);
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
  });
});

describe('A waiting allocation', () => {
  async function waiting(suspend: (people: { owner: BuiltUser; operator: BuiltUser }) => Promise<unknown>) {
    const [owner, operator] = [await buildOrganizationAdmin(stack), await buildSuperAdmin(stack)];
    const { id: causeId } = await buildOrganizationCause(stack, owner);
    const ids = await buildOpenDonations(stack, await buildIndividual(stack), 2);
    const request = {
      batchId: allocationBatchIdFor(causeId, ids),
      attemptId: newId(),
      causeId,
      donations: packIds(ids),
      requestedBy: operator.id,
      requestId: 'test',
      stamp: await stampOpening(stack.em()),
    };
    const allocate = () => allocateDonations(stack.em(), request).catch((error: unknown) => error);
    let allocating: ReturnType<typeof allocate> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from charitable_causes where id = ? for update', [causeId]);
      allocating = allocate();
      await untilLocked(stack, { text: 'charitable_causes' });
      await suspend({ owner, operator });
    });
    const outcome = await allocating;
    const rows = await stack.em().execute('select 1 from donation_allocations where cause_id = ?', [causeId]);
    return { outcome, rows, again: await allocate() };
  }

  it('An allocation is refused if its cause’s organization is suspended while it waits', async () => {
    const refused = { outcome: 'refused', cause: 'of an organization that is suspended' };
    expect(await waiting(({ owner }) => suspendOrganization(owner))).toMatchObject({
      outcome: refused,
      rows: [],
      again: refused,
    });
  });

  it('An allocation is refused if its requester is suspended while it waits', async () => {
    const refused = { code: 'SERVICE_UNAVAILABLE' };
    expect(await waiting(({ operator }) => suspendUser(operator))).toMatchObject({
      outcome: refused,
      rows: [],
      again: refused,
    });
  });
});

describe('A saving goal whose owner is suspended while its release waits', () => {
  it('The release of a goal is refused if its owner is suspended while it waits', async () => {
    const saver = await buildIndividual(stack, { balance: '10000' });
    const goal = await buildGoal(stack, saver);
    await fund(stack, goal.accountId, '5000');
    let asked: ReturnType<Stack['post']> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from saving_goals where id = ? for update', [goal.id]);
      asked = stack.post(
        `/v1/saving-goals/${goal.id}/release`,
        { account_id: saver.accountId },
        { token: saver.token },
      );
      await untilLocked(stack, { text: 'saving_goals' });
      await suspendUser(saver);
    });
    expect(await asked).toMatchObject({ status: 403 });
    expect(await balanceOf(stack, saver.accountId)).toBe('10000.0000');
  });
});
