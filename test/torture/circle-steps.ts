import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltUser } from '../support/build.ts';
import type { Http, HttpAnswer } from '../support/http.ts';
import { isAtDoor } from './at-door.ts';
import type { Answer } from './client.ts';
import type { Work } from './plan-work.ts';
import { atProvider, codeOf, patience, personal, type Workplace } from './workplace.ts';

/** Steps of circles with and without terms, which are created, paid into and cancelled in the same way. */
type CircleWork = Extract<Work, { do: 'circle' | 'terms' }>;

const startsAfterMs = 6_000;
const waitMs = 40_000;
export const pollMs = 500;
const tries = 4;

interface Standing {
  status: string;
  current_turn: number;
  next_opens_at: Date | null;
}

/** Creates a circle that starts at once; null if its creator got no answer. */
export async function foundCircle(
  place: Workplace,
  work: CircleWork,
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
  // The route accepts no key: without an answer, the creator creates another circle.
  for (let attempt = 0; attempt < tries && !place.over.aborted; attempt += 1) {
    const asked = { name: `c${attempt}`, path: '/v1/saving-circles', body, resourceOf: (answer: Answer) => answer.id };
    const operation = personal(place, { ...work, keyed: false }, 'circle', owner.token, asked);
    const made = await place.client.operate(operation, { ...work, twin: false });
    if (made !== null) return made.id;
    await sleep(pollMs);
  }
  return null;
}

/**
 * Retries at both APIs in turn until an answer is neither a fault nor a rejection before processing; returns null if
 * there was none.
 */
export async function insist(
  { apis }: Workplace,
  ask: (api: Http, options: { signal: AbortSignal }) => Promise<HttpAnswer>,
): Promise<HttpAnswer | null> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const told = await ask(attempt % 2 === 0 ? apis[0] : apis[1], { signal: patience() }).catch(() => null);
    if (told !== null && told.status < 500 && !isAtDoor({ status: told.status, answer: JSON.stringify(told.body) })) {
      return told;
    }
    await sleep(pollMs);
  }
  return null;
}

/**
 * Matches the refusal of a retry whose lost first request succeeded; the circle may have started since.
 */
const hasJoined = /is a member already|this one is active/;

/** Joins a circle; returns false if the outcome is unknown. Throws the reason of a refusal. */
export async function join(place: Workplace, token: string, body: Record<string, unknown>): Promise<boolean> {
  const told = await insist(place, (api, options) =>
    api.post('/v1/saving-circles/members', body, { token, ...options }),
  );
  if (told === null) return false;
  const says = JSON.stringify(told.body);
  if (told.status >= 300 && !hasJoined.test(says)) throw new Error(`joining was refused: ${told.status} ${says}`);
  return true;
}

/** Waits until the round of this turn is open, making it due once the previous one is paid. */
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
      await topology.deps.workflows.wakeSavingCircle(circleId);
    }
    await sleep(pollMs);
  }
  return false;
}

/** Contributes for one person, from a balance or by the gateway; retries if an answer was lost. */
export async function contribute(
  place: Workplace,
  work: CircleWork,
  contribution: { name: string; payer: BuiltUser; circleId: string; onBehalfOf?: string; byGateway: boolean },
): Promise<void> {
  const { name, payer, circleId, onBehalfOf, byGateway } = contribution;
  const body = {
    saving_circle_id: circleId,
    contribution_amount: String(work.amount),
    ...(onBehalfOf !== undefined && { on_behalf_of: onBehalfOf }),
    ...(byGateway && { payment_id: work.channel }),
  };
  // Requests under one key are one operation. Without a key each is its own, refused if a contribution exists.
  for (let attempt = 0; attempt < tries && !place.over.aborted; attempt += 1) {
    const asked = {
      name: work.keyed ? name : `${name}-${attempt}`,
      path: '/v1/saving-circles/contribute',
      body,
      otherBody: { ...body, contribution_amount: String(work.amount + 1_000) },
      resourceOf: (answer: Answer) => answer.id,
    };
    const made = await place.client.operate(personal(place, work, 'contribution', payer.token, asked), work);
    if (made !== null) {
      if (byGateway) await atProvider(place, codeOf(made.payment), { ...work, ending: 'pay', afterMs: 100 });
      return;
    }
    await sleep(pollMs);
  }
}

/** Cancels the circle as an operator. */
export async function cancelCircle(place: Workplace, work: CircleWork, circleId: string): Promise<void> {
  const path = `/v1/saving-circles/${circleId}/cancel`;
  const asked = { name: 'end', path, body: {}, again: true, about: circleId, resourceOf: () => circleId };
  const { token } = place.cast.admin;
  await place.client.operate(personal(place, { ...work, keyed: false }, 'cancel-circle', token, asked), work);
}
