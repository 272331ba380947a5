import type { EntityManager } from '@mikro-orm/postgresql';
import { type DueBy, earliness, readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { isVerdict } from '../../platform/openings/open-once.ts';
import type { DomainError } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { keepAttempt, lockSubscription, standingOf } from './open-subscription.ts';
import { payPeriod } from './pay-period.ts';
import type { Subscription } from './subscription.entity.ts';
import { attemptAt, attemptsPerPeriod, dueAt, madeAt, type SubscriptionStanding } from './subscription.ts';

export interface PeriodAttempt {
  subscriptionId: string;
  period: number;
  attempt: number;
  /** ISO 8601: the workflow's clock when it requested the attempt. */
  at: string;
}

/**
 * Makes one attempt at one period, once: pays and records the attempt, or records its refusal; the third refusal of a
 * period ends the subscription as `failed`. A refusal by the receiving side postpones the period by a day and does not
 * count as an attempt (docs/contract.md 5). An attempt has no effect if it was already made, is not yet due, or the
 * subscription has ended. Returns the subscription's state afterwards.
 */
export async function paySubscriptionPeriod(
  em: EntityManager,
  { subscriptionId, period, attempt, at }: PeriodAttempt,
  dueBy: DueBy,
): Promise<SubscriptionStanding> {
  await failpoint('pay-subscription-period.before');
  const standing = await em.transactional(async (tx) => {
    const subscription = await lockSubscription(tx, subscriptionId);
    const isNext = subscription.periods_paid === period && subscription.refusals + 1 === attempt;
    if (subscription.status !== 'active' || !isNext) return standingOf(subscription);
    const due = dueAt(subscription.started_at, subscription.interval, period);
    const earlyByMs = await earliness(
      tx,
      attemptAt(due, attempt, subscription.attempted_at, subscription.postponed_at ?? null),
      dueBy,
    );
    if (earlyByMs > 0) return { ...standingOf(subscription), earlyByMs };
    const refusal = await attemptPayment(tx, subscription, period);
    const now = await readDatabaseClock(tx);
    if (refusal !== null && isOfReceiver(refusal)) {
      subscription.postponed_at = madeAt(now, at);
      await recordRefusal(tx, subscription, { period, attempt, refusal });
      subscription.updated_at = now;
      await tx.flush();
      return standingOf(subscription);
    }
    await keepAttempt(tx, subscription, { period, attempt, refusal: refusal?.code ?? null, due });
    subscription.attempted_at = madeAt(now, at);
    subscription.postponed_at = null;
    await failpoint('pay-subscription-period.paid');
    if (refusal === null) {
      subscription.periods_paid += 1;
      subscription.refusals = 0;
    } else {
      subscription.refusals += 1;
      if (subscription.refusals >= attemptsPerPeriod) {
        subscription.status = 'failed';
        subscription.ended_at = now;
      }
      await recordRefusal(tx, subscription, { period, attempt, refusal });
    }
    subscription.updated_at = now;
    await tx.flush();
    return standingOf(subscription);
  });
  await failpoint('pay-subscription-period.after');
  return standing;
}

/**
 * Pays under a savepoint, so that a refusal rolls back only the payment's own statements. Returns the refusal, or null.
 */
async function attemptPayment(
  tx: EntityManager,
  subscription: Subscription,
  period: number,
): Promise<DomainError | null> {
  try {
    await tx.transactional((inner) => payPeriod(inner, subscription, { period, requestId: null }));
    return null;
  } catch (error) {
    if (isVerdict(error)) return error;
    throw error;
  }
}

/**
 * Returns whether the receiving side refused: the cause accepts no donations, or its organization may not receive
 * money. Any other refusal concerns the donor.
 */
const isOfReceiver = ({ code, field }: DomainError): boolean => code === 'REQUEST_INVALID' && field === 'reference_id';

async function recordRefusal(
  tx: EntityManager,
  { id, user_id, status }: Subscription,
  { period, attempt, refusal }: { period: number; attempt: number; refusal: DomainError },
): Promise<void> {
  await recordAction(tx, { actorId: user_id, requestId: null }, 'RESOURCE_UPDATED', ['donation_subscription', id], {
    period,
    attempt,
    refused: refusal.code,
    status,
  });
}
