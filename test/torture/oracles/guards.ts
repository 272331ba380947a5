import { addMoney, compareMoney } from '../../../src/shared/money.ts';
import type { Attempt, EffectEvent, Facts, Finding } from '../facts.ts';
import { doneBy } from './answers.ts';
import { askersOf } from './destinations.ts';

/**
 * Nobody acts in the name of another: the effect of a request names the user whose token was sent; with a partner's key
 * it names no user, and the created resource belongs to that partner.
 */
export function doersAreTheAskers(facts: Facts): Finding[] {
  const oracle = 'doers-are-the-askers';
  const asked = new Map(facts.attempts.map((attempt) => [attempt.requestId, attempt]));
  const done = facts.events.flatMap((happened): Finding[] => {
    const { requestId, event, resourceType, resourceId, actorId } = happened;
    const attempt = asked.get(requestId);
    if (attempt === undefined || attempt.by === actorId || !isDoneBy(attempt, happened)) return [];
    const says = `${requestId} was sent by ${attempt.by ?? 'a partner'}, and ${event} of ${resourceType} ${resourceId} names ${actorId ?? 'nobody'}`;
    return [{ oracle, resourceId, says }];
  });
  const owners = new Map([...facts.payouts, ...facts.orders].map(({ id, partnerId }) => [id, partnerId]));
  const made = [...askersOf(facts)].flatMap(([id, { kind, requestId, partner }]): Finding[] => {
    const owner = owners.get(id);
    if (owner === undefined || owner === partner) return [];
    const says = `${kind} ${requestId} was sent by ${partner ?? 'a user'}, and ${id} belongs to ${owner ?? 'no partner'}`;
    return [{ oracle, resourceId: id, says }];
  });
  return [...done, ...made];
}

/** Whether an event proves that the request took effect: a creation or, for an ending request, any change. */
function isDoneBy({ kind }: Attempt, { event, resourceType, impact }: EffectEvent): boolean {
  const done = doneBy[kind];
  return done === null ? impact !== 'LOW' : event === done.event && resourceType === done.resourceType;
}

/** Money is in suspense for the reason that its order's state implies. */
export function suspenseHasItsReason({ receipts, orders, instruments = [] }: Facts): Finding[] {
  const reusable = new Map(instruments.map((one) => [one.id, one]));
  const known = new Map(orders.map((order) => [order.id, order]));
  return receipts.flatMap(({ id, reference, amount, state, reason }): Finding[] => {
    if (state === 'applied') return [];
    const order = known.get(reference);
    const isWhole = order !== undefined && compareMoney(amount, order.total) === 0;
    const instrument = reusable.get(reference);
    // Money of the right amount is held only if it arrived after the closing.
    const ofInstrument = instrument?.amount != null && compareMoney(amount, instrument.amount) !== 0;
    const ofNone = instrument === undefined ? 'unknown' : ofInstrument ? 'wrong_amount' : 'late';
    const due = order === undefined ? ofNone : ofKnown(order.status, isWhole);
    if (reason === due) return [];
    const says = `the receipt ${id} of ${amount} for ${reference} is in suspense as ${reason ?? 'nothing'}, and should be ${due}`;
    return [{ oracle: 'suspense-has-its-reason', resourceId: reference, says }];
  });
}

function ofKnown(status: string, isWhole: boolean): string {
  if (!isWhole) return 'wrong_amount';
  return status === 'PAID' ? 'double' : 'late';
}

/**
 * No partner exceeded the daily or hourly limit (a run is shorter than both), even with concurrent requests, and no
 * payout exceeds the limit of a single one. Failed payouts count towards the hourly limit, too.
 */
export function payoutsStayWithin({ payouts, guards: { payoutLimits } }: Facts): Finding[] {
  const made = payouts.filter(({ kind }) => kind === 'partner_payout');
  return [...Map.groupBy(made, ({ partnerId }) => partnerId ?? '')].flatMap(([partnerId, own]): Finding[] => {
    const limits = payoutLimits[partnerId];
    if (limits === undefined) return [];
    const { single, daily, hourly } = limits;
    const find = (says: string, id = own.at(-1)?.id ?? null): Finding[] => [
      { oracle: 'payouts-stay-within', resourceId: id, says: `the partner ${partnerId} has paid out ${says}` },
    ];
    const counted = own.filter(({ status }) => status !== 'failed');
    const used = addMoney('0', ...counted.map(({ amount }) => amount));
    const large = own.find(({ amount }) => compareMoney(amount, single) > 0);
    return [
      ...(compareMoney(used, daily) > 0 ? find(`${used} of the day's ${daily}`) : []),
      ...(own.length > hourly ? find(`${own.length} times of the hour's ${hourly}`) : []),
      ...(large === undefined ? [] : find(`${large.amount} at once, of at most ${single}`, large.id)),
    ];
  });
}

/** No period of a subscription is paid before it starts, and none twice. */
export function periodsArePaidOnce({ guards: { subscriptions } }: Facts): Finding[] {
  const oracle = 'periods-are-paid-once';
  return subscriptions.flatMap(({ id, periodsPaid, periodsDue, donations, triedEarly }): Finding[] => {
    const find = (says: string) => [{ oracle, resourceId: id, says: `the subscription ${id} ${says}` }];
    if (periodsPaid > periodsDue) return find(`has ${periodsPaid} paid periods, and ${periodsDue} have started`);
    if (triedEarly > 0) return find(`was attempted ${triedEarly} times for a period that had not started`);
    return donations === periodsPaid ? [] : find(`has ${periodsPaid} paid periods, and ${donations} donations`);
  });
}

/** Each paid donation of a donor who receives mail has one receipt, which was sent; others have none. */
export function donorsHaveReceipts({ guards: { receipts } }: Facts): Finding[] {
  return receipts.flatMap(({ donationId, due, written, sent }): Finding[] => {
    const expected = due ? 1 : 0;
    if (written === expected && sent === expected) return [];
    const says = `the donation ${donationId} has ${written} receipts, ${sent} of them sent, and ${expected} are due`;
    return [{ oracle: 'donors-have-receipts', resourceId: donationId, says }];
  });
}

/** All transactions lock in one order: the database finds no deadlock. */
export function locksHaveAnOrder({ guards: { deadlocks } }: Facts): Finding[] {
  return deadlocks.map((says) => ({ oracle: 'locks-have-an-order', resourceId: null, says }));
}

/** How many views may stay unproved because a violation's target is missing or locked. */
const mostUnproved = 5;

/** Each `check_*` view detects its violation. */
export function checksCanSee({ guards: { blindChecks, unprovedChecks } }: Facts): Finding[] {
  const oracle = 'checks-can-see';
  const find = (says: string): Finding => ({ oracle, resourceId: null, says });
  return [
    ...blindChecks.map((check) => find(`${check} does not show the violation that was planted for it`)),
    ...(unprovedChecks.length > mostUnproved
      ? [find(`no violation could be planted for ${unprovedChecks.length} views: ${unprovedChecks.join(', ')}`)]
      : []),
  ];
}
