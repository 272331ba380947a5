import { settlePayment } from '../../src/money-in/payments/settle-payment.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { isFullRun } from '../support/run.ts';
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
  startNow,
} from './build-circle.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const bca = 1;
const dana = 30;
const statusesOf = async (circleId: string) => (await contributionsOf(stack, circleId)).map(({ status }) => status);

describe('A contribution from a balance', () => {
  it('A contribution from a balance credits the holding account and records CONTRIBUTION_MADE', async () => {
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

  it('A contribution can be made as a balance payment, and only from an account of the payer', async () => {
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

describe('Rejected contributions', () => {
  it('A contribution returns 404 for a missing circle, 403 to a non-member and 400 for a wrong amount', async () => {
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

  it('A contribution returns 400 before the circle starts and between rounds', async () => {
    const [first, second] = [
      await buildIndividual(stack, { balance: '900000' }),
      await buildIndividual(stack, { balance: '900000' }),
    ];
    const { id } = await createCircle(stack, first, { start_date: dayFromToday(3) });
    await addMembers(stack, first, id, [first, second]);
    expect((await contribute(stack, first, id)).status).toBe(400);
    await startNow(stack, first, id);
    expect((await contribute(stack, first, id)).status).toBe(201);
    expect((await contribute(stack, second, id)).status).toBe(201);
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect((await readCircle(stack, first, id)).next_round_opens_at).toEqual(expect.any(String));
    expect((await contribute(stack, first, id)).status).toBe(400);
  });

  it('A second contribution to a round or one that the balance does not cover returns 400', async () => {
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

  it('The error about a contribution names the field as the request named it', async () => {
    const { id, members } = await buildActiveCircle(stack, 2, { amount: '1000000.5' });
    const [first] = members as [BuiltUser];
    const stranger = await buildIndividual(stack, { balance: '5' });
    const own = { contribution_amount: '1000000.5' };
    expect((await contribute(stack, first, id, own)).body.message).toMatch(/^contribution_amount: the balance/);
    const byGateway = await contribute(stack, first, id, { ...own, payment_id: bca });
    expect(byGateway.body.message).toMatch(/^contribution_amount: must be a whole/);
    expect((await contribute(stack, stranger, id, own)).body.message).toMatch(/^saving_circle_id: you are not/);
    const payment = { reference_type: 'saving_circle_contribution', reference_id: id, amount: 1000000.5 };
    const pay = ({ accountId, token }: BuiltUser, body: object = {}) =>
      stack.post('/v1/payments/balance', { ...payment, source_account_id: accountId, ...body }, { token });
    expect((await pay(stranger)).body.message).toMatch(/^reference_id: you are not/);
    expect((await pay(first, { amount: 5 })).body.message).toMatch(/^amount: must be 1000000.5/);
    expect((await pay(first)).body.message).toMatch(/^amount: the balance/);
  });
});

describe('A contribution by the gateway', () => {
  it('A gateway contribution is pending until paid; the round’s last contribution triggers the payout', async () => {
    const { id, members } = await buildActiveCircle(stack, 2, { terms: { guarantee_percent: 25 } });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const { status, body } = await contribute(stack, first, id, { payment_id: bca });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        saving_circle_id: id,
        rail: 'gateway',
        status: 'pending',
        guarantee_amount: '25000.0000',
        payment: { nominal: 125_000, admin_fee: 4000, status: 'WAITING_PAYMENT', reference_id: id },
      },
    });
    expect(body.payment_order_id).toBe(body.payment.payment_order_id);
    expect(await heldBy(stack, id)).toBe('0.0000');
    expect((await contribute(stack, first, id)).status).toBe(400);
    expect(await eventsOf(stack, 'CONTRIBUTION_MADE', body.id)).toHaveLength(1);
    expect((await contribute(stack, second, id)).status).toBe(201);
    expect(await heldBy(stack, id)).toBe('125000.0000');
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await statusesOf(id)).toEqual(['completed', 'completed']);
    expect(await heldBy(stack, id)).toBe('50000.0000');
    expect(await balanceOf(stack, first.accountId)).toBe('1200000.0000');

    // An activity that is retried because its worker died after the commit signals the circle again.
    const woken: string[] = [];
    const [receipt] = await stack
      .em()
      .execute<{ id: string }[]>('select provider_payment_id as id from receipts where order_id = ?', [
        body.payment_order_id,
      ]);
    const payment = { providerPaymentId: receipt?.id ?? '', providerPaymentMethodId: 'pm-1', amount: '129000.0000' };
    const settled = await settlePayment(
      stack.em(),
      { orderId: body.payment_order_id, payment },
      {
        ...stack.deps,
        workflows: {
          wakeSavingCircle: async (circleId) => void woken.push(circleId),
          openUnmatchedReceipt: async () => void woken.push('a case'),
        },
      },
    );
    expect([settled, woken]).toEqual(['PAID', [id]]);
  });

  it('A declined gateway contribution fails, an expired one is cancelled, and both can be retried', async () => {
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
  it('The full pot goes once to the member whose turn it is, when everyone has paid', async () => {
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

  it('The pot is paid once when the last two contributions are concurrent', async () => {
    const circles = await Promise.all(Array.from({ length: isFullRun() ? 4 : 2 }, () => buildActiveCircle(stack, 2)));
    await Promise.all(circles.flatMap(({ id, members }) => members.map((member) => contribute(stack, member, id))));
    for (const { id, creator } of circles) {
      await circleWhen(stack, creator, id, { current_turn: 2 });
      expect(await balanceOf(stack, creator.accountId)).toBe('1100000.0000');
    }
  }, 60_000);
});

describe('Concurrent contributions of one member', () => {
  it('Concurrent contributions of one member on both rails create one row and one debit', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first] = members as [BuiltUser];
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 100 : 15 }, (_, index) =>
        contribute(stack, first, id, index % 2 ? { payment_id: bca } : {}),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    // On a busy machine requests may wait too long and get a 503, even the successful one.
    const told = statuses.filter((status) => status !== 503);
    expect(told.filter((status) => status !== 201 && status !== 400)).toEqual([]);
    const contributed = told.filter((status) => status === 201).length;
    expect(contributed).toBeLessThanOrEqual(1);
    if (told.length === statuses.length) expect(contributed).toBe(1);
    const rows = await eventually(
      () => contributionsOf(stack, id),
      ({ length }) => length > 0,
    );
    expect(rows.filter(({ status }) => status === 'completed' || status === 'pending')).toHaveLength(1);
    expect(rows).toHaveLength(1);
    const made = rows[0]?.rail === 'balance' ? '900000.0000' : '1000000.0000';
    expect(await balanceOf(stack, first.accountId)).toBe(made);
  }, 60_000);
});
