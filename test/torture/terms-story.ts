import { endItsOrders } from '../circles/end-interval.ts';
import type { BuiltUser } from '../support/build.ts';
import { cancelCircle, contribute, foundCircle, insist, join, pollMs, untilOpen } from './circle-steps.ts';
import type { Work } from './plan-work.ts';
import { atProvider, codeOf, untilFound, type Workplace } from './workplace.ts';

type TermsWork = Extract<Work, { do: 'terms' }>;

/** How long the terms take to resolve a default, if they do; a fault may prolong this. */
const remedyMs = 10_000;
const healedRemedyMs = 30_000;
/** How long circles may take to complete after the last fault. */
const lastMs = 120_000;

interface Place {
  id: string;
  user: BuiltUser;
  index: number;
  hasPaid: boolean;
  /** The member's own unpaid order. */
  orderId: string | null;
}

interface Living {
  circleId: string;
  size: number;
  isHealed: boolean;
}

/**
 * Runs a circle with terms from its creation to its end, in which one member does not pay in time; each turn is made
 * due by hand. Others pay by standing orders or for each other, and a place may be handed over. If faults kept the
 * circle from completing, it completes once they are over, because most of its money is distributed at the end.
 */
export async function runTermsCircle(place: Workplace, work: TermsWork): Promise<void> {
  const { cast } = place;
  const people = work.members.map((number) => cast.users[number]?.user).filter((user) => user !== undefined);
  const [owner] = people;
  if (owner === undefined) return;
  const terms = { on_default: work.rule, guarantee_percent: work.percent };
  const startsLate = new Date(Date.now() + 60 * 60_000).toISOString();
  const circleId = await foundCircle(place, work, {
    owner,
    size: people.length,
    fields: { visibility: 'public', terms, start_date: startsLate },
  });
  if (circleId === null) return;
  let hasBegun = false;
  for (const isHealed of [false, true]) {
    if (isHealed) await place.healed;
    const hands = isHealed ? { ...place, over: AbortSignal.timeout(lastMs) } : place;
    hasBegun ||= await begin(hands, work, { circleId, people });
    if (!hasBegun) continue;
    await live(hands, work, { circleId, size: people.length, isHealed });
    if (work.end === 'cancel') return;
  }
}

/** Joins everyone, then starts the circle; returns false if someone could not join. */
async function begin(
  place: Workplace,
  work: TermsWork,
  { circleId, people }: { circleId: string; people: readonly BuiltUser[] },
): Promise<boolean> {
  const { topology } = place;
  if (!(await joinAll(place, circleId, people))) return false;
  await stand(place, work, circleId);
  const isDue = await topology
    .owner()
    .execute("update saving_circles set starts_at = now() where id = ? and status = 'new'", [circleId])
    .then(
      () => true,
      () => false,
    );
  if (!isDue) return false;
  await topology.deps.workflows.wakeSavingCircle(circleId);
  return true;
}

/** Runs the circle from its current turn to its last, as far as time allows. */
async function live(place: Workplace, work: TermsWork, living: Living): Promise<void> {
  const { circleId, size } = living;
  for (let turn = await currentTurn(place, circleId); turn <= size && !place.over.aborted; turn += 1) {
    if (!(await untilOpen(place, circleId, turn))) return;
    if (turn === 2 && work.heir !== null && !living.isHealed) await replace(place, work, circleId);
    const isCancelled = work.end === 'cancel' && turn === 2;
    const contributions = liveTurn(place, work, { ...living, turn });
    if (isCancelled) await cancelCircle(place, work, circleId);
    await contributions;
    if (isCancelled) return;
  }
}

async function currentTurn({ topology }: Workplace, circleId: string): Promise<number> {
  const [circle] = await topology
    .em()
    .execute<{ current_turn: number }[]>('select current_turn from saving_circles where id = ?', [circleId])
    .catch(() => []);
  return circle?.current_turn ?? 1;
}

/**
 * Has everyone contribute except the defaulter, whose default is made due; then, if the round waits, the defaulter too.
 * If the terms continue without the defaulter, the defaulter contributes only after the faults, which may have delayed
 * the terms.
 */
async function liveTurn(
  place: Workplace,
  work: TermsWork,
  { circleId, turn, isHealed }: Living & { turn: number },
): Promise<void> {
  const places = await readPlaces(place, circleId);
  const isDefault = turn === work.turn;
  const late = places.find(({ index }) => isDefault && index === work.defaulter);
  const others = places.filter(
    (member) => member !== late && !member.hasPaid && (isHealed || member.index !== work.stands),
  );
  const all = others.map((member) => {
    if (isHealed) return contributeAtLast(place, work, { circleId, turn, member });
    const helper =
      work.helps && member.index === turn % places.length ? places.find(({ id }) => id !== member.id) : null;
    return contributeFor(place, work, { circleId, turn, member, payer: helper ?? member });
  });
  if (late === undefined) return void (await Promise.all(all));
  const pay = (name: string, byGateway: boolean) =>
    contributeFor(place, work, { circleId, turn, member: late, payer: late, name, byGateway });
  if (work.pays === 'order' && !isHealed) await pay('order', true);
  await Promise.all(all);
  await Promise.all([
    endInterval(place, circleId, turn),
    ...(work.pays === 'late' && !isHealed ? [pay('late', false)] : []),
  ]);
  const withinMs = isHealed ? healedRemedyMs : remedyMs;
  if (await hasMoved(place, { circleId, turn, withinMs })) return;
  const goesOn = work.pays === 'never' && (work.rule === 'cover' || work.rule === 'exclude');
  if (isHealed || !goesOn) await pay(isHealed ? 'at-last' : 'after', false);
}

/**
 * After the faults: pays the member's open order, otherwise by the gateway, because the account may be empty, and then
 * from the account, in case the grace period is over.
 */
async function contributeAtLast(
  place: Workplace,
  work: TermsWork,
  { circleId, turn, member }: { circleId: string; turn: number; member: Place },
): Promise<void> {
  const { orderId, user } = member;
  if (orderId === null) {
    const paying = { circleId, turn, member, payer: member };
    await contributeFor(place, work, { ...paying, name: 'at-last', byGateway: true });
    return contributeFor(place, work, { ...paying, name: 'at-last-balance', byGateway: false });
  }
  const order = await insist(place, (api, options) =>
    api.get(`/v1/payments/orders/${orderId}`, { token: user.token, ...options }),
  );
  await atProvider(place, codeOf(order?.body?.data), { ...work, ending: 'pay', afterMs: 0 });
}

interface PlaceRow {
  id: string;
  user_id: string;
  has_paid: boolean;
  order_id: string | null;
}

const readPlaces = ({ topology, cast }: Workplace, circleId: string): Promise<Place[]> =>
  topology
    .em()
    .execute<PlaceRow[]>(
      `select m.id, m.user_id, coalesce(c.status = 'completed', false) as has_paid,
         case when c.status = 'pending' and c.user_id = m.user_id then c.payment_order_id end as order_id
       from saving_circle_members m join saving_circles s on s.id = m.saving_circle_id
       left join saving_circle_contributions c on c.member_id = m.id and c.turn_number = s.current_turn
         and c.status in ('pending', 'completed')
       where s.id = ? and m.excluded_turn is null order by m.joining_order`,
      [circleId],
    )
    .catch(() => [])
    .then((rows) =>
      rows.flatMap(({ id, user_id, has_paid, order_id }, index) => {
        const user = cast.users.find((person) => person.user.id === user_id)?.user;
        return user === undefined ? [] : [{ id, user, index, hasPaid: has_paid, orderId: order_id }];
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

/** Ends the interval of the open round. */
async function endInterval({ topology }: Workplace, circleId: string, turn: number): Promise<void> {
  await topology
    .owner()
    .execute(
      `update saving_circle_rounds set due_at = now() where saving_circle_id = ? and turn_number = ? and due_at > now()`,
      [circleId, turn],
    )
    .catch(() => undefined);
  await endItsOrders(topology, circleId).catch(() => undefined);
  await topology.deps.workflows.wakeSavingCircle(circleId);
}

const hasMoved = (
  place: Workplace,
  { circleId, turn, withinMs }: { circleId: string; turn: number; withinMs: number },
): Promise<boolean> =>
  untilFound(place, {
    sql: "select 1 from saving_circles where id = ? and (current_turn > ? or status <> 'active')",
    params: [circleId, turn],
    withinMs,
    everyMs: pollMs,
  });

/** Joins each person in order, with everything that the terms may require. */
async function joinAll(place: Workplace, circleId: string, people: readonly BuiltUser[]): Promise<boolean> {
  for (const { token } of people) {
    if (!(await join(place, token, { saving_circle_id: circleId, consent: true }))) return false;
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

/** Hands the last place to another person, with both consents. */
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
  const id = proposed?.body?.data?.id;
  if (id === undefined) return;
  const path = `/v1/saving-circles/${circleId}/replacements/${id}/accept`;
  await insist(place, (api, options) => api.post(path, { consent: true }, { token: user.token, ...options }));
}
