import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { compareMoney } from '../../shared/money.ts';
import { holdPeriod, payPeriod } from './pay-period.ts';
import { Subscription } from './subscription.entity.ts';
import { madeAt, type SubscriptionOpening, type SubscriptionStanding } from './subscription.ts';

/** An equal subscription within this time counts as a double click. */
const twinWithinMinutes = 10;

/** Returns the state of the subscription from which its workflow decides what comes next. */
export const standingOf = (subscription: Subscription): SubscriptionStanding => ({
  status: subscription.status,
  interval: subscription.interval,
  startedAt: subscription.started_at.toISOString(),
  period: subscription.periods_paid,
  attempt: subscription.refusals + 1,
  lastAttemptAt: subscription.attempted_at.toISOString(),
  ...(subscription.postponed_at && { postponedAt: subscription.postponed_at.toISOString() }),
});

/**
 * Creates a subscription and makes its first payment, in one transaction; returns an existing subscription unchanged.
 * Throws as `payPeriod` and `openOnce` do, and IDEMPOTENCY_KEY_REUSED for the id of another subscription; then no
 * attempt at this opening has any effect.
 */
export async function openSubscription(
  em: EntityManager,
  input: { subscriptionId: string; opening: SubscriptionOpening | null; at: string },
): Promise<SubscriptionStanding> {
  const { subscriptionId: id, opening, at } = input;
  const find = (tx: EntityManager) => tx.findOne(Subscription, { id });
  const subscription =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          { resourceId: id, kind: 'donation_subscription', stamp: opening.stamp },
          { find, make: (tx) => makeSubscription(tx, { id, opening, at }) },
        );
  if (subscription === null) refuse('NOT_FOUND', 'The subscription was not found');
  if (opening !== null) refuseReusedKey(opening, subscription);
  await failpoint('open-subscription.after');
  return standingOf(subscription);
}

async function makeSubscription(
  tx: EntityManager,
  { id, opening, at }: { id: string; opening: SubscriptionOpening; at: string },
): Promise<Subscription> {
  const { userId: user_id, causeId: cause_id, sourceAccountId: source_account_id } = opening;
  await holdPeriod(tx, { user_id, cause_id, source_account_id });
  if (opening.refusesTwin) await refuseTwin(tx, opening);
  const startedAt = madeAt(await readDatabaseClock(tx), at);
  const subscription = tx.create(Subscription, {
    id,
    user_id,
    cause_id,
    amount: opening.amount,
    source_account_id,
    interval: opening.interval,
    status: 'active',
    started_at: startedAt,
    attempted_at: startedAt,
    periods_paid: 0,
    refusals: 0,
  });
  await tx.flush();
  await payPeriod(tx, subscription, { period: 0, requestId: opening.requestId });
  await keepAttempt(tx, subscription, { period: 0, attempt: 1, refusal: null, due: startedAt });
  subscription.periods_paid = 1;
  await recordAction(tx, { actorId: opening.userId, requestId: opening.requestId }, 'RESOURCE_CREATED', [
    'donation_subscription',
    id,
  ]);
  return subscription;
}

/** Throws REQUEST_INVALID for a double click. The caller has locked the source account, as the first click did. */
async function refuseTwin(tx: EntityManager, opening: SubscriptionOpening): Promise<void> {
  const [twin] = await tx.execute<{ id: string }[]>(
    `select id from donation_subscriptions where user_id = ? and cause_id = ? and source_account_id = ? and amount = ?
       and interval = ? and status = 'active' and created_at > clock_timestamp() - make_interval(mins => ?) limit 1`,
    [opening.userId, opening.causeId, opening.sourceAccountId, opening.amount, opening.interval, twinWithinMinutes],
  );
  if (twin === undefined) return;
  const complaint = `an equal subscription, ${twin.id}, began less than ${twinWithinMinutes} minutes ago; to begin another, send an Idempotency-Key`;
  refuse('REQUEST_INVALID', complaint, { field: 'cause_id' });
}

/** Throws IDEMPOTENCY_KEY_REUSED if the subscription with this key differs from the request. */
export function refuseReusedKey(opening: SubscriptionOpening, subscription: Subscription): void {
  const isThat =
    opening.userId === subscription.user_id &&
    opening.causeId === subscription.cause_id &&
    opening.sourceAccountId === subscription.source_account_id &&
    opening.interval === subscription.interval &&
    compareMoney(opening.amount, subscription.amount) === 0;
  if (!isThat) {
    refuse('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body', { field: 'Idempotency-Key' });
  }
}

/** Records the outcome of an attempt at a period, once per attempt. */
export async function keepAttempt(
  tx: EntityManager,
  { id }: Subscription,
  { period, attempt, refusal, due }: { period: number; attempt: number; refusal: string | null; due: Date },
): Promise<void> {
  await tx.execute(
    `insert into donation_subscription_attempts (subscription_id, period, attempt, outcome, reason, due_at)
     values (?, ?, ?, ?, ?, ?)`,
    [id, period, attempt, refusal === null ? 'paid' : 'refused', refusal, due],
  );
}

/** Locks a subscription until the transaction ends and reads it afresh. Throws NOT_FOUND. */
export async function lockSubscription(tx: EntityManager, id: string): Promise<Subscription> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const subscription = await tx.findOne(Subscription, { id }, { lockMode, refresh: true });
  return subscription ?? refuse('NOT_FOUND', 'the subscription was not found', { field: 'id' });
}
