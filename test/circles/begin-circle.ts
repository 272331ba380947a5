import type { CircleProgress } from '../../src/circles/circle-contract.ts';
import { moveCircle } from '../../src/circles/move-circle.ts';
import { openCircle, placeOfName } from '../../src/circles/open-circle.ts';
import type { CircleTerms } from '../../src/circles/terms.ts';
import { stampOpening } from '../../src/platform/openings/idempotency-keys.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import type { Stack } from '../support/stack.ts';
import { readCircle } from './build-circle.ts';

const day = 24 * 60 * 60 * 1000;
/** So late that the sweep of a stack with a worker finds nothing to begin, to cancel or to pay. */
const begin = Date.parse('2126-01-01T00:00:00+07:00');
/** So many days after the circle began. */
export const onDay = (days: number): string => new Date(begin + days * day).toISOString();

/** What the circle's workflow does at that time: the next step, if it is due. */
export const move = (stack: Stack, circleId: string, at: string): Promise<CircleProgress> =>
  moveCircle(stack.em(), stack.deps, { circleId, at });

/** Everything that its workflow would do until then in a round that misses contributions. */
export async function passTime(stack: Stack, circleId: string, at: string): Promise<CircleProgress> {
  let progress = await move(stack, circleId, at);
  const isDue = () => progress.phase === 'collecting' && progress.next !== null && progress.next.at <= at;
  for (let steps = 1; steps < 5 && isDue(); steps += 1) progress = await move(stack, circleId, at);
  return progress;
}

export interface BegunCircle {
  id: string;
  members: BuiltUser[];
  memberIds: string[];
}

/** What a circle of ten places and IDR 100,000 a round is opened with. */
export const openingOf = async <Fields extends object>(
  stack: Stack,
  { circleId, creator, startsAt, fields }: { circleId: string; creator: BuiltUser; startsAt: string; fields: Fields },
) => ({
  nameSealed: await stack.deps.sealer.seal(placeOfName(circleId), 'Arisan'),
  circle: {
    account_id: creator.accountId,
    owner_type: 'individual' as const,
    owner_id: creator.id,
    organization_id: null,
    created_by: creator.id,
    capacity: 10,
    amount: '100000.0000',
    turn_order: 'joining' as const,
    ...fields,
  },
  startsAt,
  requestId: 'test',
  stamp: await stampOpening(stack.em()),
});

/** A daily circle of IDR 100,000 that nobody has joined yet, by default one that no sweep touches; its id. */
export async function opened(
  stack: Stack,
  creator: BuiltUser,
  terms: Partial<CircleTerms> = {},
  startsAt = onDay(0),
): Promise<string> {
  const id = newId();
  const fields = {
    visibility: 'public' as const,
    round_interval: 'daily' as const,
    ...{ grace_days: 0, on_default: 'wait' as const, guarantee_percent: 0, ...terms },
    start_date: new Date(Date.parse(startsAt) + 7 * 60 * 60 * 1000).toISOString().slice(0, 10),
  };
  const opening = await openingOf(stack, { circleId: id, creator, startsAt, fields });
  await openCircle(stack.em(), stack.deps.sealer, { circleId: id, opening });
  return id;
}

/** A daily circle of IDR 100,000 that has begun, with its first round open; by default no sweep finds it due. */
export async function begun(
  stack: Stack,
  size: number,
  terms: Partial<CircleTerms>,
  balances: string[] = [],
  startsAt = onDay(0),
): Promise<BegunCircle> {
  const members = await Promise.all(
    Array.from({ length: size }, (_, index) => buildIndividual(stack, { balance: balances[index] ?? '1000000' })),
  );
  const [creator] = members as [BuiltUser];
  const id = await opened(stack, creator, terms, startsAt);
  for (const member of members) {
    const consent = terms.on_default === 'winner_first' ? { consent: true } : {};
    const joined = await stack.post(
      '/v1/saving-circles/members',
      { saving_circle_id: id, ...consent },
      { token: member.token },
    );
    expect(joined).toMatchObject({ status: 201 });
  }
  await move(stack, id, startsAt);
  const memberIds = (await readCircle(stack, creator, id)).members.map(({ id: memberId }: { id: string }) => memberId);
  return { id, members, memberIds };
}
