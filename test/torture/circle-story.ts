import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltUser } from '../support/build.ts';
import type { Answer } from './client.ts';
import type { Work } from './plan.ts';
import { atProvider, codeOf, patience, personal, type Workplace } from './workplace.ts';

type CircleWork = Extract<Work, { do: 'circle' }>;

const startsAfterMs = 6_000;
const waitMs = 40_000;
const pollMs = 500;
const tries = 4;

interface Standing {
  status: string;
  current_turn: number;
  next_opens_at: Date | null;
}

/**
 * A circle from its creation to its last round, as its members would live it: everybody contributes in each round, on
 * either rail, and asks again when an answer was lost. A day between two rounds is too long for a test: when the pot has
 * been paid the next round is made due.
 */
export async function runCircle(place: Workplace, work: CircleWork): Promise<void> {
  const { client, cast } = place;
  const unkeyed = { ...work, keyed: false };
  const members = work.members.map((number) => cast.users[number]?.user).filter((user) => user !== undefined);
  const [owner] = members;
  if (owner === undefined) return;
  const circleId = await foundCircle(place, work, { owner, size: members.length });
  if (circleId === null) return;
  if (
    !(await joinAll(
      place,
      circleId,
      owner.token,
      members.map(({ accountId }) => accountId),
    ))
  )
    return;
  for (let turn = 1; turn <= work.rounds && !place.over.aborted; turn += 1) {
    if (!(await untilOpen(place, circleId, turn))) return;
    const cancelled = work.end === 'cancel' && turn === 2;
    const contributions = members.map((_, index) => contribute(place, work, { circleId, turn, index }));
    if (cancelled) {
      const end = {
        name: 'end',
        path: `/v1/saving-circles/${circleId}/cancel`,
        body: {},
        again: true,
        about: circleId,
      };
      const asked = { ...end, resourceOf: () => circleId };
      await client.operate(personal(place, unkeyed, 'cancel-circle', cast.admin.token, asked), work);
    }
    await Promise.all(contributions);
    if (cancelled) return;
  }
}

/** A circle that starts in a moment; null when nobody told its founder that there is one. */
export async function foundCircle(
  place: Workplace,
  work: CircleWork | Extract<Work, { do: 'terms' }>,
  { owner, size, fields = {} }: { owner: BuiltUser; size: number; fields?: object },
): Promise<string | null> {
  const body = {
    account_id: owner.accountId,
    name: `Circle ${work.id}`,
    capacity: size,
    start_date: new Date(Date.now() + startsAfterMs).toISOString(),
    amount: String(work.amount),
    round_interval: 'daily',
    ...fields,
  };
  // It takes no key: whoever had no answer founds another.
  for (let attempt = 0; attempt < tries && !place.over.aborted; attempt += 1) {
    const asked = { name: `c${attempt}`, path: '/v1/saving-circles', body, resourceOf: (answer: Answer) => answer.id };
    const operation = personal(place, { ...work, keyed: false }, 'circle', owner.token, asked);
    const made = await place.client.operate(operation, { ...work, twin: false });
    if (made !== null) return made.id;
    await sleep(pollMs);
  }
  return null;
}

async function joinAll({ apis }: Workplace, circleId: string, token: string, accounts: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const answer = await (attempt % 2 === 0 ? apis[0] : apis[1])
      .post(
        '/v1/saving-circles/members',
        { saving_circle_id: circleId, account_ids: accounts },
        { token, signal: patience() },
      )
      .catch(() => null);
    // Joined already is what an earlier request did whose answer was lost.
    if (answer !== null && answer.status < 500) return true;
    await sleep(pollMs);
  }
  return false;
}

/** Waits until the round of this turn is open, and makes it due when the one before has been paid. */
export async function untilOpen({ topology, over }: Workplace, circleId: string, turn: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (Date.now() < deadline && !over.aborted) {
    const [circle] = await topology
      .em()
      .execute<Standing[]>('select status, current_turn, next_opens_at from saving_circles where id = ?', [circleId])
      .catch(() => []);
    if (circle?.status === 'cancelled' || circle?.status === 'completed') return false;
    if (circle?.status === 'active' && circle.current_turn === turn) {
      if (circle.next_opens_at === null) return true;
      await topology
        .owner()
        .execute('update saving_circles set next_opens_at = now() where id = ? and next_opens_at > now()', [circleId])
        .catch(() => undefined);
      await topology.deps.workflows.wakeSavingCircle(circleId, 'circleChanged');
    }
    await sleep(pollMs);
  }
  return false;
}

async function contribute(
  place: Workplace,
  work: CircleWork,
  { circleId, turn, index }: { circleId: string; turn: number; index: number },
): Promise<void> {
  const user = place.cast.users[work.members[index] ?? 0]?.user;
  if (user === undefined) return;
  const byGateway = (turn + index) % 3 === 0;
  const body = {
    saving_circle_id: circleId,
    contribution_amount: String(work.amount),
    ...(byGateway && { payment_id: work.channel }),
  };
  const { keyed } = work;
  // Under a key all are one; without one each request stands for itself, and what was made already refuses the next.
  for (let attempt = 0; attempt < tries && !place.over.aborted; attempt += 1) {
    const asked = {
      name: keyed ? `t${turn}m${index}` : `t${turn}m${index}a${attempt}`,
      path: '/v1/saving-circles/contribute',
      body,
      otherBody: { ...body, contribution_amount: String(work.amount + 1_000) },
      resourceOf: (answer: Answer) => answer.id,
    };
    const made = await place.client.operate(personal(place, work, 'contribution', user.token, asked), work);
    if (made !== null) {
      if (byGateway) await atProvider(place, codeOf(made.payment), { ...work, ending: 'pay', afterMs: 100 });
      return;
    }
    await sleep(pollMs);
  }
}
