import { setTimeout as sleep } from 'node:timers/promises';
import { savingCircleContribution } from '../../src/payments/handlers/saving-circle-contribution.ts';
import { payFromBalance } from '../../src/payments/pay-from-balance.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  addMembers,
  buildActiveCircle,
  circleWhen,
  contribute,
  contributionsOf,
  createCircle,
  dayFromToday,
  eventsOf,
  heldBy,
  readCircle,
} from './build-circle.ts';

let stack: Stack;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  platform = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const bca = 1;
const dana = 30;
const statusesOf = async (circleId: string) => (await contributionsOf(stack, circleId)).map(({ status }) => status);

describe('A contribution from a balance', () => {
  it('is completed at once, moves the money to the holding account and leaves the event CONTRIBUTION_MADE', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser, BuiltUser];
    const { status, body } = await contribute(stack, first, id, { contribution_amount: '100000.00' });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: 'Contribution made',
        saving_circle_id: id,
        user_id: first.id,
        turn_number: 1,
        amount: '100000.0000',
        rail: 'balance',
        status: 'completed',
        payment_order_id: null,
      },
    });
    expect(await balanceOf(stack, first.accountId)).toBe('900000.0000');
    expect(await heldBy(stack, id)).toBe('100000.0000');
    expect(await eventsOf(stack, 'CONTRIBUTION_MADE', body.id)).toMatchObject([
      { impact: 'MEDIUM', actor_id: first.id, data: { saving_circle_id: id, turn_number: 1, rail: 'balance' } },
    ]);
    const { body: list } = await stack.get('/v1/transactions', { token: first.token });
    expect(list.data.transactions[0]).toMatchObject({
      amount: '100000.0000',
      type: 'price',
      reference_type: 'saving_circle',
      reference_id: id,
      purpose: 'product_transfer',
      source_account_id: first.accountId,
    });
  });

  it('comes from another account of the member when one is named, and by /v1/payments/balance too', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    const { body: pocket } = await stack.post('/v1/accounts', { name: 'Arisan' }, { token: first.token });
    expect((await contribute(stack, first, id, { source_account_id: pocket.data.id })).status).toBe(400);
    expect((await contribute(stack, first, id, { source_account_id: second.accountId })).status).toBe(403);
    expect(await statusesOf(id)).toEqual([]);
    const paid = await stack.post(
      '/v1/payments/balance',
      {
        reference_type: 'saving_circle_contribution',
        reference_id: id,
        source_account_id: first.accountId,
        amount: 100_000,
      },
      { token: first.token },
    );
    expect(paid).toMatchObject({ status: 201, body: { data: { new_balance: '900000.0000', reference_id: id } } });
    expect(await statusesOf(id)).toEqual(['completed']);
  });
});

describe('A contribution is refused', () => {
  it('with 404 for a circle that does not exist, 403 for who is not a member, 400 for another amount', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    const stranger = await buildIndividual(stack, { balance: '500000' });
    expect((await contribute(stack, first, '6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11')).status).toBe(404);
    expect((await contribute(stack, stranger, id)).status).toBe(403);
    expect((await contribute(stack, stranger, id, { source_account_id: stranger.accountId })).status).toBe(403);
    for (const contribution_amount of [
      '100001',
      '99999.9999',
      '0',
      '0.00',
      '-100000',
      'abc',
      '1e5',
      '100000.00001',
      100000,
      '',
    ]) {
      const { status, body } = await contribute(stack, first, id, { contribution_amount });
      expect({ contribution_amount, status, body }).toMatchObject({ status: 400 });
    }
    const other = await contribute(stack, first, id, { contribution_amount: '5' });
    expect(other.body.message).toContain('contribution_amount');
    expect((await contribute(stack, first, id, { payment_id: bca, source_account_id: first.accountId })).status).toBe(
      400,
    );
    expect((await contribute(stack, first, id, { payment_id: 999 })).status).toBe(400);
    expect((await contribute(stack, first, id, { note: 'x' })).status).toBe(400);
    expect((await stack.post('/v1/saving-circles/contribute', {})).status).toBe(401);
    expect(await statusesOf(id)).toEqual([]);
  });

  it('with 400 before the circle starts, between rounds and after its end', async () => {
    const [first, second] = [
      await buildIndividual(stack, { balance: '900000' }),
      await buildIndividual(stack, { balance: '900000' }),
    ];
    const { id } = await createCircle(stack, first, { start_date: dayFromToday(3) });
    await addMembers(stack, first, id, [first, second]);
    expect((await contribute(stack, first, id)).status).toBe(400);
    await stack.patch(
      `/v1/saving-circles/${id}`,
      { start_date: dayFromToday(0), current_turn: 1 },
      { token: first.token },
    );
    await circleWhen(stack, first, id, { status: 'active' });
    expect((await contribute(stack, first, id)).status).toBe(201);
    expect((await contribute(stack, second, id)).status).toBe(201);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect((await readCircle(stack, first, id)).next_round_opens_at).toEqual(expect.any(String));
    expect((await contribute(stack, first, id)).status).toBe(400);
  });

  it('with 400 for a repeat, and when the balance does not cover it', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    expect((await contribute(stack, first, id)).status).toBe(201);
    expect((await contribute(stack, first, id)).status).toBe(400);
    expect((await contribute(stack, first, id, { payment_id: bca })).status).toBe(400);
    const { body: pocket } = await stack.post('/v1/accounts', { name: 'Empty' }, { token: second.token });
    expect((await contribute(stack, second, id, { source_account_id: pocket.data.id })).body.message).toMatch(
      /balance/,
    );
    expect(await balanceOf(stack, first.accountId)).toBe('900000.0000');
  });
});

describe('A contribution by the gateway', () => {
  it('is pending until it is paid, then completed', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    const { status, body } = await contribute(stack, first, id, { payment_id: bca });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        saving_circle_id: id,
        rail: 'gateway',
        status: 'pending',
        payment: { nominal: 100_000, admin_fee: 4000, status: 'WAITING_PAYMENT', reference_id: id },
      },
    });
    expect(body.payment_order_id).toBe(body.payment.payment_order_id);
    expect(await heldBy(stack, id)).toBe('0.0000');
    expect((await contribute(stack, first, id)).status).toBe(400);
    expect(await eventsOf(stack, 'CONTRIBUTION_MADE', body.id)).toHaveLength(1);
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      ([state]) => state === 'completed',
    );
    expect(await heldBy(stack, id)).toBe('100000.0000');
    const circle = await readCircle(stack, first, id);
    expect(circle.contribution_summary).toMatchObject({ completed_count: 1, collected_amount: '100000.0000' });
  });

  it('that is declined becomes failed, one that expires cancelled, and each allows a retry', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    const declined = await contribute(stack, first, id, { payment_id: dana });
    await stack.sandbox.post('/sandbox/decline', { payment_code: declined.body.payment.payment_links });
    await eventually(
      () => statusesOf(id),
      ([state]) => state === 'failed',
    );
    const expired = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'saving_circle_contribution', reference_id: id, payment_id: bca, amount: 100_000 },
      { token: first.token },
    );
    expect(expired.status).toBe(201);
    await stack.sandbox.post('/sandbox/expire', { payment_code: expired.body.data.payment_code });
    await eventually(
      () => statusesOf(id),
      (states) => states[1] === 'cancelled',
    );
    expect((await contribute(stack, first, id)).status).toBe(201);
    expect(await statusesOf(id)).toEqual(['failed', 'cancelled', 'completed']);
  });
});

describe('The pot', () => {
  it('goes whole to the member whose turn it is, once, when everybody has paid', async () => {
    const { id, members } = await buildActiveCircle(stack, 3);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    for (const member of [third, second]) expect((await contribute(stack, member, id)).status).toBe(201);
    expect(await heldBy(stack, id)).toBe('200000.0000');
    expect((await readCircle(stack, first, id)).contribution_summary.missing_user_ids).toEqual([first.id]);
    expect((await contribute(stack, first, id)).status).toBe(201);
    const circle = await circleWhen(stack, first, id, { current_turn: 2 });
    expect(circle).toMatchObject({ status: 'active', round: null });
    expect(await heldBy(stack, id)).toBe('0.0000');
    expect(await balanceOf(stack, first.accountId)).toBe('1200000.0000');
    const { body } = await stack.get('/v1/transactions', { token: first.token });
    expect(body.data.transactions[0]).toMatchObject({
      user_id: first.id,
      amount: '300000.0000',
      type: 'price',
      reference_type: 'saving_circle',
      reference_id: id,
      purpose: 'internal_withdrawal',
      destination_account_id: first.accountId,
      payment_order_id: null,
      status: 'successful',
    });
  });

  it('is paid as soon as the last contribution, by the gateway, has settled', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    expect((await contribute(stack, first, id)).status).toBe(201);
    const { body } = await contribute(stack, second, id, { payment_id: bca });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
  });

  it('is paid once when the last two contributions come at the same instant', async () => {
    const circles = await Promise.all(Array.from({ length: 4 }, () => buildActiveCircle(stack, 2)));
    await Promise.all(circles.flatMap(({ id, members }) => members.map((member) => contribute(stack, member, id))));
    for (const { id, creator } of circles) {
      await circleWhen(stack, creator, id, { current_turn: 2 });
      expect(await balanceOf(stack, creator.accountId)).toBe('1100000.0000');
    }
  }, 60_000);
});

describe('A hundred contributions of one member for one turn, at once and over both rails', () => {
  it('make one row and one debit', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => contribute(stack, first, id, index % 2 ? { payment_id: bca } : {})),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([201, 400]));
    const rows = await contributionsOf(stack, id);
    expect(rows.filter(({ status }) => status === 'completed' || status === 'pending')).toHaveLength(1);
    expect(rows).toHaveLength(1);
    const made = rows[0]?.rail === 'balance' ? '900000.0000' : '1000000.0000';
    expect(await balanceOf(stack, first.accountId)).toBe(made);
  }, 60_000);
});

describe('Cancelling an active circle', () => {
  const cancel = (id: string, as: BuiltUser = platform) =>
    stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: as.token });

  it('refunds what was completed to where it came from, also gateway money that still arrives', async () => {
    const { id, members } = await buildActiveCircle(stack, 4);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const { body: pocket } = await stack.post('/v1/accounts', { name: 'Arisan' }, { token: first.token });
    await stack.post(
      `/v1/accounts/${first.accountId}/transfers`,
      { destination_account_id: pocket.data.id, amount: '150000' },
      { token: first.token },
    );
    expect((await contribute(stack, first, id, { source_account_id: pocket.data.id })).status).toBe(201);
    const paid = await contribute(stack, second, id, { payment_id: bca });
    await stack.sandbox.post('/sandbox/pay', { payment_code: paid.body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      (states) => states[1] === 'completed',
    );
    const pending = await contribute(stack, third, id, { payment_id: bca });

    expect((await cancel(id, first)).status).toBe(403);
    expect(await cancel(id)).toMatchObject({ status: 200, body: { data: { id, status: 'cancelled' } } });
    expect(await statusesOf(id)).toEqual(['refunded', 'refunded', 'cancelled']);
    expect(await balanceOf(stack, pocket.data.id)).toBe('150000.0000');
    expect(await balanceOf(stack, second.accountId)).toBe('1100000.0000');

    await stack.sandbox.post('/sandbox/pay', { payment_code: pending.body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      (states) => states[2] === 'refunded',
    );
    expect(await balanceOf(stack, third.accountId)).toBe('1100000.0000');
    expect(await heldBy(stack, id)).toBe('0.0000');
    const { body } = await stack.get('/v1/transactions', { token: third.token });
    const reversed = body.data.transactions.filter(({ status }: { status: string }) => status === 'reversed');
    expect(reversed).toMatchObject([
      { amount: '100000.0000', reference_id: id, user_id: third.id, destination_account_id: third.accountId },
    ]);

    expect((await readCircle(stack, first, id)).status).toBe('cancelled');
    expect((await cancel(id)).status).toBe(400);
    expect((await contribute(stack, first, id)).status).toBe(400);
    const { status } = await eventually(
      () => stack.deps.temporal.client.workflow.getHandle(`saving-circle/${id}`).describe(),
      (workflow) => workflow.status.name === 'COMPLETED',
    );
    expect(status.name).toBe('COMPLETED');
  });

  it('at the instant of the last contributions ends either way with nothing held and nothing lost', async () => {
    const circles = await Promise.all(Array.from({ length: 4 }, () => buildActiveCircle(stack, 3)));
    await Promise.all(
      circles.flatMap(({ id, members }) => [
        ...members.map((member) => contribute(stack, member, id)),
        sleep(Math.random() * 150).then(() => cancel(id)),
      ]),
    );
    for (const { id, members } of circles) {
      expect((await readCircle(stack, platform, id)).status).toBe('cancelled');
      expect(await heldBy(stack, id)).toBe('0.0000');
      const balances = await Promise.all(members.map(({ accountId }) => balanceOf(stack, accountId)));
      expect(balances.reduce((sum, balance) => sum + Number(balance), 0)).toBe(3_000_000);
      const statuses = new Set(await statusesOf(id));
      expect(statuses.size).toBeLessThanOrEqual(1);
    }
  }, 60_000);

  it('is refused with 400 while it is new, and with 404 when there is none', async () => {
    const { id } = await createCircle(stack, await buildIndividual(stack));
    expect((await cancel(id)).status).toBe(400);
    expect((await cancel('6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11')).status).toBe(404);
  });
});

describe('The workflow of a circle', () => {
  /** As its schedule does once a minute; circles of other tests here wait for nothing. */
  const sweep = () => {
    const { client, taskQueue } = stack.deps.temporal;
    return client.workflow.execute<() => Promise<number>>('sweepSavingCircles', { taskQueue, workflowId: newId() });
  };

  it('tells operators the round, who has not paid, and what happens next', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    await contribute(stack, first, id);
    const handle = stack.deps.temporal.client.workflow.getHandle(`saving-circle/${id}`);
    const details = await eventually(
      () => handle.query<string>('__temporal_workflow_metadata').then((metadata) => JSON.stringify(metadata)),
      (text) => text.includes('1 have not paid'),
    );
    expect(details).toContain(second.id);
    expect(details).toContain('turn 1 of 2');
    expect(details).not.toContain('Arisan Melati');
  });

  it('is started again from its row by the sweep when it was lost with every signal', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    await stack.deps.temporal.client.workflow.getHandle(`saving-circle/${id}`).terminate('lost');
    for (const { id: userId, accountId } of members) {
      await payFromBalance(stack.em(), savingCircleContribution, {
        payer: { userId, userType: 'individual', organizationId: null },
        transactionId: newId(),
        referenceId: id,
        sourceAccountId: accountId,
        amount: '100000',
        requestId: null,
      });
    }
    const [first] = members as [BuiltUser];
    expect(await sweep()).toBe(0);
    await stack
      .em()
      .execute(
        "update saving_circle_contributions set updated_at = now() - interval '2 minutes' where saving_circle_id = ?",
        [id],
      );
    expect(await sweep()).toBe(1);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
  });
});
