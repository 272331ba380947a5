import type { BuiltUser } from '../support/build.ts';
import { cancelCircle, contribute, foundCircle, insist, pollMs, untilOpen } from './circle-steps.ts';
import type { Work } from './plan.ts';
import { untilFound, type Workplace } from './workplace.ts';

type TermsWork = Extract<Work, { do: 'terms' }>;

/** So long a remedy takes at most, where there is one; a fault may make it longer, and then the member pays. */
const remedyMs = 10_000;

interface Place {
  id: string;
  user: BuiltUser;
  index: number;
}

/**
 * A circle with terms from its creation to its end, in which one member does not pay in time: each turn is made due by
 * hand, as its interval would make it. Others pay by standing orders or for each other, and a place may pass over.
 */
export async function runTermsCircle(place: Workplace, work: TermsWork): Promise<void> {
  const { cast } = place;
  const people = work.members.map((number) => cast.users[number]?.user).filter((user) => user !== undefined);
  const [owner] = people;
  if (owner === undefined) return;
  const terms = { on_default: work.rule, guarantee_percent: work.percent };
  const circleId = await foundCircle(place, work, {
    owner,
    size: people.length,
    fields: { visibility: 'public', terms },
  });
  if (circleId === null || !(await joinAll(place, circleId, people))) return;
  await stand(place, work, circleId);
  for (let turn = 1; turn <= people.length && !place.over.aborted; turn += 1) {
    if (!(await untilOpen(place, circleId, turn))) return;
    if (turn === 2 && work.heir !== null) await replace(place, work, circleId);
    const isCancelled = work.end === 'cancel' && turn === 2;
    const contributions = liveTurn(place, work, { circleId, turn });
    if (isCancelled) await cancelCircle(place, work, circleId);
    await contributions;
    if (isCancelled) return;
  }
}

/** Everybody contributes but the one who does not, whose default is made due; then, if the round waits, that one too. */
async function liveTurn(
  place: Workplace,
  work: TermsWork,
  { circleId, turn }: { circleId: string; turn: number },
): Promise<void> {
  const places = await readPlaces(place, circleId);
  const isDefault = turn === work.turn;
  const late = places.find(({ index }) => isDefault && index === work.defaulter);
  const others = places.filter((member) => member !== late && member.index !== work.stands);
  const all = others.map((member) => {
    const helper =
      work.helps && member.index === turn % places.length ? places.find(({ id }) => id !== member.id) : null;
    return contributeFor(place, work, { circleId, turn, member, payer: helper ?? member });
  });
  if (late === undefined) return void (await Promise.all(all));
  const pay = (name: string, byGateway: boolean) =>
    contributeFor(place, work, { circleId, turn, member: late, payer: late, name, byGateway });
  if (work.pays === 'order') await pay('order', true);
  await Promise.all(all);
  await Promise.all([endInterval(place, circleId, turn), ...(work.pays === 'late' ? [pay('late', false)] : [])]);
  if (!(await hasMoved(place, circleId, turn))) await pay('after', false);
}

const readPlaces = ({ topology, cast }: Workplace, circleId: string): Promise<Place[]> =>
  topology
    .em()
    .execute<{ id: string; user_id: string }[]>(
      `select id, user_id from saving_circle_members where saving_circle_id = ? and excluded_turn is null
       order by joining_order`,
      [circleId],
    )
    .catch(() => [])
    .then((rows) =>
      rows.flatMap(({ id, user_id }, index) => {
        const user = cast.users.find((person) => person.user.id === user_id)?.user;
        return user === undefined ? [] : [{ id, user, index }];
      }),
    );

function contributeFor(
  place: Workplace,
  work: TermsWork,
  contribution: { circleId: string; turn: number; member: Place; payer: Place; name?: string; byGateway?: boolean },
): Promise<void> {
  const { circleId, turn, member, payer, name = 'in-time', byGateway = (turn + member.index) % 4 === 0 } = contribution;
  return contribute(place, work, {
    name: `t${turn}m${member.index}-${name}`,
    payer: payer.user,
    circleId,
    ...(payer !== member && { onBehalfOf: member.id }),
    byGateway,
  });
}

/** The interval of the open round is over, as time would have it. */
async function endInterval({ topology }: Workplace, circleId: string, turn: number): Promise<void> {
  await topology
    .owner()
    .execute(
      `update saving_circle_rounds set due_at = now() where saving_circle_id = ? and turn_number = ? and due_at > now()`,
      [circleId, turn],
    )
    .catch(() => undefined);
  await topology.deps.workflows.wakeSavingCircle(circleId, 'circleChanged');
}

const hasMoved = (place: Workplace, circleId: string, turn: number): Promise<boolean> =>
  untilFound(place, {
    sql: "select 1 from saving_circles where id = ? and (current_turn > ? or status <> 'active')",
    params: [circleId, turn],
    withinMs: remedyMs,
    everyMs: pollMs,
  });

/** By themselves, in their order, with what the terms may ask for. */
async function joinAll(place: Workplace, circleId: string, people: readonly BuiltUser[]): Promise<boolean> {
  for (const { token } of people) {
    const body = { saving_circle_id: circleId, consent: true };
    const joined = await insist(place, (api, options) =>
      api.post('/v1/saving-circles/members', body, { token, ...options }),
    );
    if (joined === null) return false;
  }
  return true;
}

async function stand(place: Workplace, { stands }: TermsWork, circleId: string): Promise<void> {
  const member = (await readPlaces(place, circleId)).find(({ index }) => index === stands);
  if (member === undefined) return;
  const path = `/v1/saving-circles/${circleId}/members/${member.id}/standing-order`;
  const { token, accountId } = member.user;
  await insist(place, (api, options) => api.put(path, { source_account_id: accountId }, { token, ...options }));
}

/** The last place passes over to somebody else, as both of them want. */
async function replace(place: Workplace, { heir }: TermsWork, circleId: string): Promise<void> {
  const member = (await readPlaces(place, circleId)).at(-1);
  const user = place.cast.users[heir ?? -1]?.user;
  if (member === undefined || user === undefined) return;
  const proposed = await insist(place, (api, options) =>
    api.post(
      `/v1/saving-circles/${circleId}/members/${member.id}/replacements`,
      { account_id: user.accountId },
      { token: member.user.token, ...options },
    ),
  );
  const path = `/v1/saving-circles/${circleId}/replacements/${proposed?.data?.id}/accept`;
  if (proposed?.data === undefined) return;
  await insist(place, (api, options) => api.post(path, { consent: true }, { token: user.token, ...options }));
}
