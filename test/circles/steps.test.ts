import { Client } from '@temporalio/client';
import { findProgress } from '../../src/circles/find-progress.ts';
import { sweepCircles } from '../../src/circles/sweep-circles.ts';
import { createWorkflows } from '../../src/wiring/temporal/workflows.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { isFullRun } from '../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { inserted, move, passTime } from './begin-circle.ts';
import {
  addMembers,
  balancesOf,
  buildMembers,
  contribute,
  createCircle,
  dayFromToday,
  eventsOf,
  memberIdsOf,
} from './build-circle.ts';

let stack: Stack;
/** Temporal is down, so that only the test runs steps. */
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const nobody = { hintGatewayPayment: async () => undefined };
const many = Array.from({ length: isFullRun() ? 10 : 3 });
const january31 = '2026-01-31T00:00:00+07:00';
const iso = (text: string) => new Date(text).toISOString();

interface Beginning {
  firstTurn?: number;
  startsAt?: string;
  start_date?: string;
  turn_order?: 'lottery';
}

async function circleOf(
  size: number,
  { firstTurn = 1, startsAt = january31, ...fields }: Beginning = {},
): Promise<{ circleId: string; members: BuiltUser[] }> {
  const members = await buildMembers(stack, size);
  const [creator] = members as [BuiltUser];
  const own = { visibility: 'private', round_interval: 'monthly', start_date: '2026-01-31', ...fields } as const;
  const circleId = await inserted(stack, creator, iso(startsAt), own);
  await stack.owner().execute('update saving_circles set current_turn = ? where id = ?', [firstTurn, circleId]);
  expect((await addMembers(stack, creator, circleId, members)).status).toBe(201);
  return { circleId, members };
}
const start = (circleId: string, at: string) => move(stack, circleId, iso(at));
const roundOf = async (circleId: string) => {
  const progress = await findProgress(stack.em(), circleId);
  return progress.phase === 'collecting' ? progress.round : null;
};

describe('The activities of a circle', () => {
  it('Each circle activity takes effect once, however often it is retried, even in parallel', async () => {
    const { circleId, members } = await circleOf(2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    expect(await eventsOf(stack, 'RESOURCE_CREATED', circleId)).toHaveLength(1);
    expect(await start(circleId, '2026-01-30T23:59:59+07:00')).toMatchObject({ phase: 'waiting for its start' });
    await Promise.all(many.map(() => start(circleId, january31)));
    expect(await findProgress(stack.em(), circleId)).toMatchObject({ phase: 'collecting', turn: 1, lastTurn: 2 });

    const late = iso('2026-03-01T00:00:00+07:00');
    await Promise.all(many.map(() => passTime(stack, circleId, late)));
    expect(await eventsOf(stack, 'CONTRIBUTION_OVERDUE', circleId)).toHaveLength(2);

    for (const member of members) expect((await contribute(stack, member, circleId)).status).toBe(201);
    await Promise.all(many.map(() => move(stack, circleId, late)));
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
    await Promise.all(many.map(() => move(stack, circleId, late)));
    expect(await findProgress(stack.em(), circleId)).toMatchObject({ phase: 'collecting', turn: 2 });

    for (const member of members) expect((await contribute(stack, member, circleId)).status).toBe(201);
    await Promise.all(many.map(() => move(stack, circleId, late)));
    expect(await findProgress(stack.em(), circleId)).toEqual({ phase: 'ended', status: 'completed' });
    expect(await balanceOf(stack, second.accountId)).toBe('1000000.0000');
  });

  it('Circle activities change nothing before they are due', async () => {
    const { circleId, members } = await circleOf(2);
    await start(circleId, january31);
    const early = iso('2026-02-27T23:59:59.999+07:00');
    await passTime(stack, circleId, early);
    expect(await eventsOf(stack, 'CONTRIBUTION_OVERDUE', circleId)).toEqual([]);
    await contribute(stack, members[0] as BuiltUser, circleId);
    expect(await move(stack, circleId, early)).toMatchObject({
      phase: 'collecting',
      round: { missing: 1, missingUserIds: [members[1]?.id] },
    });
    await contribute(stack, members[1] as BuiltUser, circleId);
    expect(await move(stack, circleId, early)).toMatchObject({
      phase: 'between rounds',
      next: { step: 'open round', at: iso('2026-02-28T00:00:00+07:00') },
    });
    expect(await move(stack, circleId, early)).toMatchObject({ phase: 'between rounds' });
  });
});

describe('A member whose account is locked', () => {
  it('A locked account does not delay payments of other members and is debited later', async () => {
    const { circleId, members } = await circleOf(3);
    const memberIds = await memberIdsOf(stack, circleId, members);
    for (const [index, { accountId, token }] of members.entries()) {
      const path = `/v1/saving-circles/${circleId}/members/${memberIds[index]}/standing-order`;
      expect((await stack.put(path, { source_account_id: accountId }, { token })).status).toBe(200);
    }
    await start(circleId, january31);
    const pay = () => move(stack, circleId, iso(january31));
    const [stuck] = members as [BuiltUser];
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select from account_balances where account_id = ? for update', [stuck.accountId]);
      await expect(pay()).rejects.toThrow('lock timeout');
    });
    expect(await balancesOf(stack, members)).toEqual([1_000_000, 900_000, 900_000]);
    expect(await pay()).toMatchObject({ phase: 'collecting', round: { missing: 0 } });
    expect(await balancesOf(stack, members)).toEqual([900_000, 900_000, 900_000]);
  }, 60_000);
});

describe('The start of a circle', () => {
  const ten = { startsAt: iso('2026-01-31T10:00:00+07:00') };
  const statusOf = async (circleId: string) =>
    (
      await stack
        .em()
        .execute('select status, draw_seed is null as hidden from saving_circles where id = ?', [circleId])
    )[0];

  it('A circle that starts today waits for a second member until the day (UTC+7) is over', async () => {
    const { circleId, members } = await circleOf(1, ten);
    const waiting = { phase: 'waiting for its start', next: { step: 'start', at: iso('2026-02-01T00:00:00+07:00') } };
    for (const at of ['2026-01-31T10:00:00+07:00', '2026-01-31T23:59:59+07:00']) {
      expect(await start(circleId, at)).toMatchObject(waiting);
    }
    const second = await buildIndividual(stack, { balance: '1000000' });
    expect((await addMembers(stack, members[0] as BuiltUser, circleId, [second])).status).toBe(201);
    expect(await findProgress(stack.em(), circleId)).toMatchObject({ ...waiting, next: { at: ten.startsAt } });
    expect(await start(circleId, '2026-01-31T23:00:00+07:00')).toMatchObject({ phase: 'collecting', turn: 1 });
    const alone = await circleOf(1, ten);
    expect(await start(alone.circleId, '2026-02-01T00:00:00+07:00')).toEqual({ phase: 'ended', status: 'cancelled' });
  });

  it('A circle that starts on a later day with one member is cancelled', async () => {
    const { circleId } = await circleOf(1);
    expect(await start(circleId, january31)).toEqual({ phase: 'ended', status: 'cancelled' });
  });

  it('A circle that starts with no round left is cancelled without a draw, never completed', async () => {
    const { circleId } = await circleOf(2, { turn_order: 'lottery', firstTurn: 3 });
    expect(await start(circleId, january31)).toEqual({ phase: 'ended', status: 'cancelled' });
    expect(await statusOf(circleId)).toEqual({ status: 'cancelled', hidden: true });
  });

  itInFull('The sweep reports a circle as failed when its workflow cannot be signalled', async () => {
    const { circleId } = await circleOf(1);
    await stack.owner().execute('delete from sweep_looks');
    const client = new Client({ connection: stack.deps.workflows.client.connection, namespace: 'nowhere' });
    const failed: string[] = [];
    const workflows = createWorkflows(client, stack.deps.workflows.taskQueue);
    await sweepCircles(stack.em(), workflows, (_, id) => failed.push(id));
    expect(failed).toContain(circleId);
    await stack.owner().execute('delete from sweep_looks');
  });

  it('The sweep wakes a circle whose workflow is lost, but not one waiting for a second member', async () => {
    const woken: string[] = [];
    const workflows = { ...nobody, lookAfterSavingCircle: async (id: string) => void woken.push(id) };
    const lost = await circleOf(1);
    const today = new Date(Math.max(Date.now() - 90_000, Date.parse(`${dayFromToday(0)}T00:00:00.001+07:00`)));
    const waits = await circleOf(1, { start_date: dayFromToday(0), startsAt: today.toISOString() });
    await sweepCircles(stack.em(), workflows, () => undefined);
    expect(woken).toContain(lost.circleId);
    expect(woken).not.toContain(waits.circleId);
  });
});

describe('Monthly rounds from 31 January', () => {
  it('Monthly rounds from 31 January are due on the last day of each month', async () => {
    const { circleId, members } = await circleOf(4);
    await start(circleId, january31);
    const dues: (string | undefined)[] = [];
    for (const opens of ['2026-02-28', '2026-03-31', '2026-04-30']) {
      dues.push((await roundOf(circleId))?.facts.dueAt);
      for (const member of members) await contribute(stack, member, circleId);
      await move(stack, circleId, iso('2026-02-01T00:00:00+07:00'));
      await move(stack, circleId, iso(`${opens}T00:00:10+07:00`));
    }
    expect(dues).toEqual(['2026-02-28', '2026-03-31', '2026-04-30'].map((day) => iso(`${day}T00:00:00+07:00`)));
  });
});

describe('While Temporal is down', () => {
  it('Circles accept contributions from balances, but not by gateway, while Temporal is down', async () => {
    const { circleId, members } = await circleOf(2);
    const [first] = members as [BuiltUser];
    await start(circleId, january31);
    expect(await createCircle(stack, first)).toMatchObject({ status: 'new' });
    expect((await contribute(stack, first, circleId)).status).toBe(201);
    expect((await contribute(stack, members[1] as BuiltUser, circleId, { payment_id: 1 })).status).toBe(503);
  });
});
