import { dueAt } from '../../../src/giving/donations/subscription.ts';
import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
  fund,
} from '../../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { createSubscriber, subscriptionsPath } from './create-subscriber.ts';

let stack: Stack;
let creator: BuiltUser;
let superAdmin: BuiltUser;
let donor: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  creator = await buildOrganizationAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  donor = await buildIndividual(stack, { balance: '10000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const path = subscriptionsPath;
const dayMs = 24 * 60 * 60 * 1000;
const { subscribe, begin, read, stop, donations, attemptsOf } = createSubscriber(() => ({ stack, donor, causeId }));
const endOf = (id: string) => stack.deps.workflows.client.workflow.getHandle(`donation-subscription/${id}`).result();

describe('POST /v1/donations/subscriptions', () => {
  it('Creating a subscription pays the first period at once and returns the subscription', async () => {
    const { status, body } = await subscribe();
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: expect.any(String),
        data: {
          user_id: donor.id,
          cause_id: causeId,
          amount: '1000.0000',
          source_account_id: donor.accountId,
          interval: 'monthly',
          status: 'active',
          periods_paid: 1,
        },
      },
    });
    expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');
    expect(await currentAmountOf(stack, donor, causeId)).toBe(1000);
    expect((await donations()).items).toEqual([
      expect.objectContaining({
        type: 'subscription',
        status: 'completed',
        cause_id: causeId,
        subscription_id: body.data.id,
        transaction_id: expect.any(String),
      }),
    ]);
    expect(await read(body.data.id)).toEqual(body.data);
    const list = await stack.get(path, { token: donor.token });
    expect(list.body).toMatchObject({ data: { items: [body.data], page: 1, limit: 10, total: 1 } });
  });

  it('Creating a subscription that the balance does not cover returns 400 and leaves no rows', async () => {
    const { status } = await subscribe({ amount: '10000.0001' });
    expect(status).toBe(400);
    expect((await stack.get(path, { token: donor.token })).body.data.total).toBe(0);
    expect((await donations()).total).toBe(0);
    expect(await balanceOf(stack, donor.accountId)).toBe('10000.0000');
  });

  it('Creating a subscription returns 404 for unknown causes and 403 for others’ accounts', async () => {
    expect((await subscribe({ cause_id: newId() })).status).toBe(404);
    expect((await subscribe({ source_account_id: newId() })).status).toBe(404);
    expect((await subscribe({ cause_id: await buildCause(stack, creator) })).status).toBe(400);
    expect((await subscribe({ source_account_id: creator.accountId })).status).toBe(403);
  });

  it.each([
    ['amount as a number', { amount: 1000 }, 'amount'],
    ['amount zero', { amount: '0' }, 'amount'],
    ['amount with five decimals', { amount: '1.00001' }, 'amount'],
    ['another interval', { interval: 'daily' }, 'interval'],
    ['a cause_id that is not a UUID', { cause_id: 'x' }, 'cause_id'],
    ['an unknown field', { day: 5 }, 'day'],
  ])('Creating a subscription with %s returns 400 and names the field', async (_, body, field) => {
    const { status, body: answer } = await subscribe(body);
    expect({ status, message: answer.message }).toEqual({ status: 400, message: expect.stringContaining(field) });
  });

  it('Creating a subscription needs a token (401) and the permission (403)', async () => {
    expect((await stack.post(path, {})).status).toBe(401);
    await stack.owner().execute('update users set role_id = null where id = ?', [donor.id]);
    expect((await subscribe()).status).toBe(403);
    expect((await stack.get(path, { token: donor.token })).status).toBe(403);
    expect((await stop(newId())).status).toBe(403);
  });

  it('Requests with one Idempotency-Key create one subscription; another body returns 400', async () => {
    const key = { 'idempotency-key': `subscription-${newId()}` };
    const answers = await Promise.all([1, 2, 3].map(() => subscribe({}, key)));
    const later = await subscribe({ amount: '1000.00' }, key);
    answers.push(later);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(later.headers.get('idempotency-replayed')).toBe('true');
    expect((await subscribe({ amount: '2' }, key)).status).toBe(400);
    const otherKey = { 'idempotency-key': `subscription-${newId()}` };
    const mixed = await Promise.all(['1', '2'].map((amount) => subscribe({ amount }, otherKey)));
    expect(mixed.map(({ status }) => status).sort()).toEqual([201, 400]);
    const { total } = (await stack.get(path, { token: donor.token })).body.data;
    expect(total).toBe(2);
  });
});

describe('A duplicate subscription', () => {
  it('A second identical subscription returns 400, unless it has its own Idempotency-Key', async () => {
    const answers = await Promise.all([subscribe(), subscribe()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const [first, twin] = answers[0].status === 201 ? answers : answers.toReversed();
    expect(twin?.body.message).toContain(first?.body.data.id);
    expect((await donations()).total).toBe(1);
    for (const key of [newId(), newId()]) expect((await subscribe({}, { 'idempotency-key': key })).status).toBe(201);
    expect((await subscribe({ interval: 'weekly' })).status).toBe(201);
  });

  it('A second subscription is accepted after the first was stopped, or ten minutes later', async () => {
    const { id } = await begin();
    expect((await subscribe()).status).toBe(400);
    await stop(id);
    const next = await begin();
    await stack
      .owner()
      .execute("update donation_subscriptions set created_at = created_at - interval '10 minutes' where id = ?", [
        next.id,
      ]);
    await begin();
  });
});

describe('DELETE /v1/donations/subscriptions/:id', () => {
  it('Stopping a subscription ends its payments and completes its workflow', async () => {
    const { id } = await begin({ interval: 'weekly' });
    const { status, body } = await stop(id);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { data: { id, status: 'stopped', next_payment_at: null, periods_paid: 1 } },
    });
    expect(await endOf(id)).toBe('stopped');
    expect((await donations()).total).toBe(1);
    expect((await stop(id)).body.data.status).toBe('stopped');
  });

  it('Only the donor may stop a subscription, and platform users can read it', async () => {
    const { id } = await begin();
    const platform = await buildPlatformAdmin(stack);
    for (const user of [creator, platform]) expect((await stop(id, user)).status).toBe(403);
    expect((await stop(newId())).status).toBe(404);
    expect((await read(id, platform)).id).toBe(id);
    expect((await stack.get(`${path}/${id}`, { token: creator.token })).status).toBe(403);
    await stop(id);
  });
});

describe('A period of a subscription', () => {
  /** Makes a subscription and its attempts older and signals its workflow. */
  async function ageBy(id: string, interval: string): Promise<void> {
    await stack.owner().execute(
      `update donation_subscriptions set started_at = started_at - age, attempted_at = attempted_at - age, postponed_at = postponed_at - age
         from (select ?::interval as age) as aged where id = ?`,
      [interval, id],
    );
    await stack.deps.workflows.client.workflow.getHandle(`donation-subscription/${id}`).signal('subscriptionStopped');
  }
  const outcomes = async (id: string) => (await attemptsOf(id)).map(({ outcome }) => outcome);
  const outcomesWhen = (id: string, count: number) =>
    eventually(
      () => outcomes(id),
      (made) => made.length === count,
    );

  it('A period is paid when it is due', async () => {
    const { id } = await begin({ interval: 'weekly' });
    await ageBy(id, '6 days 23 hours 59 minutes 58 seconds');
    expect(await outcomesWhen(id, 2)).toEqual(['paid', 'paid']);
    await stop(id);
  });

  it('A refused period is paid a day later, and the next one keeps its date', async () => {
    const { id } = await begin({ amount: '6000', interval: 'weekly' });
    await ageBy(id, '7 days');
    expect(await outcomesWhen(id, 2)).toEqual(['paid', 'refused']);
    const { started_at, next_payment_at } = await read(id);
    const later = Date.parse(next_payment_at) - Date.parse(started_at) - 8 * dayMs;
    expect(later).toBeGreaterThanOrEqual(0);
    expect(later).toBeLessThan(600_000);
    await fund(stack, donor.accountId, '2000');
    await ageBy(id, '1 day');
    expect(await outcomesWhen(id, 3)).toEqual(['paid', 'refused', 'paid']);
    const paid = await read(id);
    expect(paid).toMatchObject({ status: 'active', periods_paid: 2 });
    expect(Date.parse(paid.next_payment_at) - Date.parse(paid.started_at)).toBe(14 * dayMs);
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
  ])('A period is not paid while %s suspended, but retried after the suspension', async (_, build) => {
    const whom = await build();
    const { id } = await begin({ interval: 'weekly' });
    await setStatus(whom, 'suspended');
    await ageBy(id, '7 days');
    expect(await outcomesWhen(id, 2)).toEqual(['paid', 'refused']);
    expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');
    await setStatus(whom, 'active');
    await ageBy(id, '1 day');
    expect(await outcomesWhen(id, 3)).toEqual(['paid', 'refused', 'paid']);
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
    // The suspension has permanently revoked the donor's tokens.
    const sessions = { userId: donor.id, userType: 'individual', organizationId: donor.organizationId } as const;
    const { token } = await stack.deps.tokens.sign({ ...sessions, secondFactor: null });
    await stop(id, { ...donor, token });
  });

  /** Waits until the subscription was postponed within the last hour; earlier postponements are a day old. */
  const isPostponed = (id: string) =>
    eventually(
      async () => {
        const [row] = await stack
          .em()
          .execute<{ is_postponed: boolean | null }[]>(
            "select postponed_at > now() - interval '1 hour' as is_postponed from donation_subscriptions where id = ?",
            [id],
          );
        return row?.is_postponed ?? false;
      },
      (is) => is,
    );

  it('A period is postponed daily, without an attempt, while its cause’s organization is suspended', async () => {
    const owner = await buildOrganizationAdmin(stack);
    causeId = await buildCause(stack, owner, superAdmin);
    await stack
      .owner()
      .execute("update charitable_causes set owner_type = 'organization', organization_id = ? where id = ?", [
        owner.organizationId,
        causeId,
      ]);
    const { id } = await begin({ interval: 'weekly' });
    await setStatus(`/v1/organizations/${owner.organizationId}`, 'suspended');
    for (const age of ['7 days', '1 day', '1 day', '1 day']) {
      await ageBy(id, age);
      await isPostponed(id);
      expect(await outcomes(id)).toEqual(['paid']);
    }
    expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');
    expect(Date.parse((await read(id)).next_payment_at)).toBeGreaterThan(Date.now() + dayMs - 600_000);
    await setStatus(`/v1/organizations/${owner.organizationId}`, 'active');
    await ageBy(id, '1 day');
    expect(await outcomesWhen(id, 2)).toEqual(['paid', 'paid']);
    expect(await balanceOf(stack, donor.accountId)).toBe('8000.0000');
    await stop(id);
  });

  it('A period is postponed while its cause no longer accepts donations', async () => {
    const { id } = await begin({ interval: 'weekly' });
    await stack.delete(`/v1/charitable-causes/${causeId}`, undefined, { token: creator.token });
    await ageBy(id, '7 days');
    await isPostponed(id);
    expect(await outcomes(id)).toEqual(['paid']);
    expect(await balanceOf(stack, donor.accountId)).toBe('9000.0000');
    await stop(id);
  });
});

describe('The due date of a period', () => {
  it('Database and workflow compute the same due date of a period', async () => {
    const begun = ['2026-01-31T01:00:00+07:00', '2026-03-01T00:30:00+07:00', '2027-12-30T23:59:59.5+07:00'];
    const rows = await stack.owner().transactional(async (tx) => {
      await tx.execute(
        'create temporary table periods (like donation_subscriptions including generated) on commit drop',
      );
      return tx.execute<{ started: string; interval: 'weekly' | 'monthly'; periods_paid: number; due: string }[]>(
        `insert into periods (id, user_id, cause_id, amount, source_account_id, interval, status, started_at, periods_paid,
           refusals, attempted_at, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), i, 'active', s, p, 0, s, s, s
         from unnest(?::timestamptz[]) s, unnest(array['weekly', 'monthly']) i, unnest(array[0, 1, 2, 12, 13, 26, 120]) p
         returning to_json(started_at) #>> '{}' as started, interval, periods_paid, to_json(due_at) #>> '{}' as due`,
        [`{${begun.join(',')}}`],
      );
    });
    expect(rows).toHaveLength(42);
    expect(rows.map(({ due }) => Date.parse(due))).toEqual(
      rows.map((row) => dueAt(new Date(row.started), row.interval, row.periods_paid).getTime()),
    );
  });
});
