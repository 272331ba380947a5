import type { CircleTerms } from '../../src/circles/terms.ts';
import { must } from '../../src/shared/assert.ts';
import { formatWesternIndonesia } from '../../src/shared/clock.ts';
import { asAClient } from '../support/as-a-client.ts';
import {
  type BuildPlace,
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../support/build.ts';
import type { Http } from '../support/http.ts';
import { eventually } from '../support/stack.ts';
import type { RoundPlace } from './end-interval.ts';

/** A stack in which circles are built, in this process or in separate processes. */
export type CirclePlace = Http & BuildPlace;
type StartingPlace = CirclePlace & RoundPlace;

/** Every kind of caller of a circle. */
export interface Cast {
  organizationId: string;
  admin: BuiltUser;
  otherAdmin: BuiltUser;
  /** An individual of the organization. */
  employee: BuiltUser;
  owner: BuiltUser;
  stranger: BuiltUser;
  platform: BuiltUser;
}

export async function buildCast(stack: CirclePlace): Promise<Cast> {
  const organizationId = await buildOrganization(stack);
  return {
    organizationId,
    admin: await buildOrganizationAdmin(stack, { organizationId }),
    otherAdmin: await buildOrganizationAdmin(stack),
    employee: await buildIndividual(stack, { organizationId }),
    owner: await buildIndividual(stack),
    stranger: await buildIndividual(stack),
    platform: await buildPlatformAdmin(stack),
  };
}

const dayMs = 24 * 60 * 60 * 1000;

/** Returns the calendar day (UTC+7) this many days from today. */
export const dayFromToday = (days: number): string =>
  formatWesternIndonesia(new Date(Date.now() + days * dayMs)).slice(0, 10);

/** Creates a circle that starts tomorrow, IDR 100,000 a month by default; returns the response body. */
export async function createCircle(stack: CirclePlace, creator: BuiltUser, fields: object = {}) {
  const { status, body } = await asAClient(() =>
    stack.post(
      '/v1/saving-circles',
      {
        account_id: creator.accountId,
        name: 'Arisan Melati',
        start_date: dayFromToday(1),
        amount: '100000',
        ...fields,
      },
      { token: creator.token },
    ),
  );
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

export const addMembers = (stack: CirclePlace, by: BuiltUser, circleId: string, users: BuiltUser[]) =>
  stack.post(
    '/v1/saving-circles/members',
    { saving_circle_id: circleId, account_ids: users.map(({ accountId }) => accountId) },
    { token: by.token },
  );

/** Reads the circle as a web client. */
export const readCircle = async (stack: CirclePlace, as: BuiltUser, circleId: string) =>
  (await stack.get(`/v1/saving-circles/${circleId}`, { token: as.token })).body.saving_circle;

export const circleWhen = (stack: CirclePlace, as: BuiltUser, circleId: string, fields: object) =>
  eventually(
    () => readCircle(stack, as, circleId),
    (circle) => Object.entries(fields).every(([field, value]) => circle[field] === value),
  );

/** Makes a circle start now. */
export async function startNow(stack: StartingPlace, by: BuiltUser, circleId: string): Promise<void> {
  await stack.owner().execute('update saving_circles set starts_at = now() where id = ?', [circleId]);
  await stack.deps.workflows.lookAfterSavingCircle(circleId);
  await circleWhen(stack, by, circleId, { status: 'active' });
}

export interface BuiltCircle {
  id: string;
  creator: BuiltUser;
  /** In joining order, the creator first. */
  members: BuiltUser[];
}

/** Creates this many people with IDR 1,000,000 each. */
export const buildMembers = (stack: CirclePlace, count: number): Promise<BuiltUser[]> =>
  Promise.all(Array.from({ length: count }, () => buildIndividual(stack, { balance: '1000000' })));

/** Creates an active circle of this many members with IDR 1,000,000 each. */
export async function buildActiveCircle(stack: StartingPlace, size: number, fields: object = {}): Promise<BuiltCircle> {
  const members = await buildMembers(stack, size);
  const [creator] = members;
  if (creator === undefined) throw new Error('a circle has a creator');
  const { id } = await createCircle(stack, creator, fields);
  const { status } = await addMembers(stack, creator, id, members);
  expect(status).toBe(201);
  await startNow(stack, creator, id);
  return { id, creator, members };
}

/** Creates an active daily circle of this many members with these terms; the first `paid` members have contributed. */
export async function buildDailyCircle(
  stack: StartingPlace,
  size: number,
  { paid, terms }: { paid: number; terms: Partial<CircleTerms> },
): Promise<BuiltCircle & { memberIds: string[] }> {
  const circle = await buildActiveCircle(stack, size, { round_interval: 'daily', terms });
  for (const member of circle.members.slice(0, paid)) {
    expect((await contribute(stack, member, circle.id)).status).toBe(201);
  }
  return { ...circle, memberIds: await memberIdsOf(stack, circle.id, circle.members) };
}

/**
 * Creates an active public daily circle whose members all joined by themselves, with consent; the first is the creator.
 */
export async function buildConsentedCircle(
  stack: StartingPlace,
  members: BuiltUser[],
  fields: object,
): Promise<BuiltCircle> {
  const [creator] = members as [BuiltUser];
  const { id } = await createCircle(stack, creator, { round_interval: 'daily', visibility: 'public', ...fields });
  for (const { token } of members) {
    const body = { saving_circle_id: id, consent: true };
    expect((await stack.post('/v1/saving-circles/members', body, { token })).status).toBe(201);
  }
  await startNow(stack, creator, id);
  return { id, creator, members };
}

/** Returns the member ids of these users, in the given order. */
export async function memberIdsOf(
  stack: CirclePlace,
  circleId: string,
  members: readonly BuiltUser[],
): Promise<string[]> {
  const shown: { id: string; user_id: string }[] = (await readCircle(stack, members[0] as BuiltUser, circleId)).members;
  const idByUser = new Map(shown.map(({ id, user_id }) => [user_id, id]));
  return members.map(({ id }) => must(idByUser.get(id), 'everybody has a place'));
}

export const contribute = (stack: CirclePlace, member: BuiltUser, circleId: string, fields: object = {}) =>
  stack.post(
    '/v1/saving-circles/contribute',
    { saving_circle_id: circleId, contribution_amount: '100000', ...fields },
    { token: member.token },
  );

/** Returns the balance of each of these members in IDR. */
export const balancesOf = (stack: CirclePlace, members: readonly BuiltUser[]): Promise<number[]> =>
  Promise.all(members.map(async ({ accountId }) => Number(await balanceOf(stack, accountId))));

/** Returns the balance of the circle's holding account. */
export async function heldBy(stack: CirclePlace, circleId: string): Promise<string> {
  const [row] = await stack
    .em()
    .execute<{ id: string }[]>('select holding_account_id as id from saving_circles where id = ?', [circleId]);
  return balanceOf(stack, row?.id ?? '');
}

export const contributionsOf = (stack: CirclePlace, circleId: string) =>
  stack.em().execute<{ status: string; rail: string; turn_number: number; user_id: string }[]>(
    `select status, rail, turn_number, user_id from saving_circle_contributions where saving_circle_id = ?
       order by created_at`,
    [circleId],
  );

export const eventsOf = (stack: CirclePlace, event: string, resourceId: string) =>
  stack
    .em()
    .execute<{ impact: string; actor_id: string | null; data: Record<string, unknown> }[]>(
      'select impact, actor_id, data from events where event = ? and resource_id = ? order by id',
      [event, resourceId],
    );
