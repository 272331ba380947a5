import type { CircleProgress } from '../../src/circles/circle-contract.ts';
import { insertCircle, type NewColumns } from '../../src/circles/create-circle.ts';
import { moveCircle } from '../../src/circles/move-circle.ts';
import type { CircleTerms } from '../../src/circles/terms.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import type { Stack } from '../support/stack.ts';
import { readCircle } from './build-circle.ts';

const day = 24 * 60 * 60 * 1000;
/** So late that the sweep of a stack with a worker finds nothing to start, cancel or pay. */
const begin = Date.parse('2126-01-01T00:00:00+07:00');
/** Returns the instant this many days after the circle's start. */
export const onDay = (days: number): string => new Date(begin + days * day).toISOString();

/** Runs the circle's next step at that time, if it is due. */
export const move = (stack: Stack, circleId: string, at: string): Promise<CircleProgress> =>
  moveCircle(stack.em(), stack.deps, { circleId, at });

/** Runs every step that the workflow would run by then in a round with missing contributions. */
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

type Own = Pick<NewColumns, 'visibility' | 'round_interval' | 'start_date'> & Partial<NewColumns>;

/** Inserts a circle of ten places and IDR 100,000 a round, without members; returns its id. */
export async function inserted(stack: Stack, creator: BuiltUser, startsAt: string, own: Own): Promise<string> {
  const columns: NewColumns = {
    ...{ account_id: creator.accountId, owner_type: 'individual', owner_id: creator.id, organization_id: null },
    ...{ created_by: creator.id, name: 'Arisan', capacity: 10, amount: '100000.0000', turn_order: 'joining' },
    starts_at: new Date(startsAt),
    ...own,
  };
  return (await stack.em().transactional((tx) => insertCircle(tx, stack.deps.sealer, columns, 'test'))).id;
}

/** Inserts a daily circle of IDR 100,000 without members, by default not due for any sweep; returns its id. */
export function opened(
  stack: Stack,
  creator: BuiltUser,
  terms: Partial<CircleTerms> = {},
  startsAt = onDay(0),
): Promise<string> {
  return inserted(stack, creator, startsAt, {
    visibility: 'public',
    round_interval: 'daily',
    ...{ grace_days: 0, on_default: 'wait', guarantee_percent: 0, ...terms },
    start_date: new Date(Date.parse(startsAt) + 7 * 60 * 60 * 1000).toISOString().slice(0, 10),
  });
}

/** Creates a daily circle of IDR 100,000 with its first round open, by default not due for any sweep. */
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
