import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../support/time-skipping.ts';
import {
  addMembers,
  buildMembers,
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

let stack: TimeSkippingStack;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** A start date later than any time that these tests skip to, for circles that they start themselves. */
const farAway = dayFromToday(1500);
const bca = 1;
const dana = 30;
const roundsOf = (circleId: string) =>
  stack.em().execute<{ opened_at: string; due_at: string; paid_at: string; receiver: string }[]>(
    `select r.opened_at::text, r.due_at::text, r.paid_at::text, m.user_id as receiver from saving_circle_rounds r
       join saving_circle_members m on m.id = r.receiver_member_id where r.saving_circle_id = ? order by r.turn_number`,
    [circleId],
  );
const untilTurnOpens = (as: BuiltUser, circleId: string, turn: number) =>
  eventually(
    () => readCircle(stack, as, circleId),
    (circle) => circle.current_turn === turn && circle.round !== null,
  );
/** Skips time until a second after an instant. Waiting for a result would skip too far. */
async function sleepUntil(instant: string): Promise<void> {
  const left = Date.parse(instant) - (await stack.time.currentTimeMs());
  if (left > 0) await stack.time.sleep(left + 1000);
}

/** Skips time until the next round opens; after a late payout it is already open. */
async function sleepUntilNextRound(as: BuiltUser, circleId: string, turn: number): Promise<void> {
  const circle = await circleWhen(stack, as, circleId, { current_turn: turn });
  if (circle.next_round_opens_at === null) return;
  await sleepUntil(circle.next_round_opens_at);
}

describe('A circle of 12 members over 12 monthly rounds', () => {
  itInFull(
    'A circle of 12 members completes 12 monthly rounds with late, gateway and retried payments',
    async () => {
      const members = await Promise.all(
        Array.from({ length: 12 }, () => buildIndividual(stack, { balance: '1200000' })),
      );
      const [creator, late, gateway, clumsy] = members as [BuiltUser, BuiltUser, BuiltUser, BuiltUser];
      const { id } = await createCircle(stack, creator, { capacity: 12, turn_order: 'lottery' });
      await addMembers(stack, creator, id, members);
      await startNow(stack, creator, id);

      for (let turn = 1; turn <= 12; turn += 1) {
        await untilTurnOpens(creator, id, turn);
        const others = members.filter((member) => ![late, gateway, clumsy].includes(member));
        const answers = await Promise.all(others.map((member) => contribute(stack, member, id)));
        expect(answers.map(({ status }) => status)).toEqual(others.map(() => 201));
        await payByGateway(id, gateway);
        if (turn === 2) await failThenRetry(id, clumsy);
        else expect((await contribute(stack, clumsy, id)).status).toBe(201);
        if (turn === 3 || turn === 7) {
          await stack.time.sleep('40 days');
          const overdue = await eventually(
            () => eventsOf(stack, 'CONTRIBUTION_OVERDUE', id),
            (events) => events.some(({ data }) => data.turn_number === turn),
          );
          expect(overdue.at(-1)?.data).toMatchObject({ turn_number: turn, user_id: late.id });
        }
        expect((await contribute(stack, late, id)).status).toBe(201);
        if (turn < 12) {
          await sleepUntilNextRound(creator, id, turn + 1);
        }
      }
      const circle = await circleWhen(stack, creator, id, { status: 'completed' });
      expect(circle.current_turn).toBe(12);
      expect(await heldBy(stack, id)).toBe('0.0000');
      expect(await eventsOf(stack, 'CONTRIBUTION_OVERDUE', id)).toHaveLength(2);
      const rounds = await roundsOf(id);
      expect(new Set(rounds.map(({ receiver }) => receiver))).toEqual(new Set(members.map((member) => member.id)));
      expect(rounds).toHaveLength(12);
      // Everyone paid twelve times 100,000 and received one pot of 1,200,000; the gateway payer paid from outside.
      for (const member of members) {
        expect(await balanceOf(stack, member.accountId)).toBe(member === gateway ? '2400000.0000' : '1200000.0000');
      }
      const { body } = await stack.get(`/v1/saving-circles/${id}/draw`, { token: creator.token });
      expect(body.data.order.map(({ turn_number }: { turn_number: number }) => turn_number)).toEqual(
        Array.from({ length: 12 }, (_, index) => index + 1),
      );
      // The round after a late payout opens at the payout, the others one interval after the previous opening.
      expect(rounds[3]?.opened_at).toBe(rounds[2]?.paid_at);
      expect(rounds[1]?.opened_at).toBe(rounds[0]?.due_at);
    },
    180_000,
  );

  async function payByGateway(circleId: string, payer: BuiltUser): Promise<void> {
    const { status, body } = await contribute(stack, payer, circleId, { payment_id: bca });
    expect(status).toBe(201);
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await contributionBecomes(circleId, body.id, 'completed');
  }

  async function failThenRetry(circleId: string, payer: BuiltUser): Promise<void> {
    const { body } = await contribute(stack, payer, circleId, { payment_id: dana });
    await stack.sandbox.post('/sandbox/decline', { payment_code: body.payment.payment_links });
    await contributionBecomes(circleId, body.id, 'failed');
    expect((await contribute(stack, payer, circleId)).status).toBe(201);
  }

  const contributionBecomes = (_: string, id: string, status: string) =>
    eventually(
      () =>
        stack.em().execute<{ status: string }[]>('select status from saving_circle_contributions where id = ?', [id]),
      ([row]) => row?.status === status,
    );
});

describe('A circle at its start date', () => {
  it('A circle with one member is cancelled at its start date', async () => {
    const creator = await buildIndividual(stack);
    const { id, starts_at } = await createCircle(stack, creator, { start_date: dayFromToday(700) });
    await addMembers(stack, creator, id, [creator]);
    await sleepUntil(starts_at);
    const circle = await circleWhen(stack, creator, id, { status: 'cancelled' });
    expect(circle.members).toMatchObject([{ user_id: creator.id, turn_number: null }]);
    expect((await stack.delete(`/v1/saving-circles/${id}`, undefined, { token: creator.token })).status).toBe(400);
  });

  it('A circle that continues one run elsewhere skips the turns already taken', async () => {
    const members = await buildMembers(stack, 3);
    const [creator, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const { id } = await createCircle(stack, creator, { round_interval: 'daily', start_date: farAway });
    const patched = await stack.patch(`/v1/saving-circles/${id}`, { current_turn: 2 }, { token: creator.token });
    expect(patched.body.data.current_turn).toBe(2);
    await addMembers(stack, creator, id, members);
    await startNow(stack, creator, id);
    for (const turn of [2, 3]) {
      await untilTurnOpens(creator, id, turn);
      for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
      if (turn === 2) await sleepUntilNextRound(creator, id, 3);
    }
    await circleWhen(stack, creator, id, { status: 'completed' });
    expect((await roundsOf(id)).map(({ receiver }) => receiver)).toEqual([second.id, third.id]);
    expect(await balanceOf(stack, creator.accountId)).toBe('800000.0000');
    expect(await balanceOf(stack, third.accountId)).toBe('1100000.0000');
  }, 60_000);
});

describe('A gateway contribution paid late', () => {
  it('A late gateway payment goes to suspense if the member has contributed otherwise', async () => {
    const members = await buildMembers(stack, 2);
    const [creator] = members as [BuiltUser];
    const { id } = await createCircle(stack, creator, { start_date: farAway });
    await addMembers(stack, creator, id, members);
    await startNow(stack, creator, id);
    const { body } = await contribute(stack, creator, id, { payment_id: bca });
    await stack.time.sleep('25 hours');
    await eventually(
      () => contributionsOf(stack, id),
      ([contribution]) => contribution?.status === 'cancelled',
    );
    expect((await contribute(stack, creator, id)).status).toBe(201);
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.payment.payment_code });
    await eventually(
      () =>
        stack
          .em()
          .execute<{ reason: string }[]>('select reason from receipts where reference = ?', [body.payment_order_id]),
      ([receipt]) => receipt?.reason === 'late',
    );
    expect((await contributionsOf(stack, id)).map(({ status }) => status)).toEqual(['cancelled', 'completed']);
  }, 60_000);
});
