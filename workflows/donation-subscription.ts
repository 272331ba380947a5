import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  attemptAt,
  attemptsPerPeriod,
  type DonationSubscriptionInput,
  dueAt,
  type SubscriptionOpening,
  type SubscriptionStanding,
  type SubscriptionStatus,
} from '../src/giving/donations/subscription.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';
import { hasLapsed } from './refusal.ts';
import { firstStep, subscriptionStep } from './step-options.ts';

/** The update that the request waits for: the first payment was made or refused. */
export const awaitFirstPayment = defineUpdate<SubscriptionStanding>('awaitFirstPayment');
/** A hint that the donor stopped the subscription: the workflow reads the row. */
export const subscriptionStopped = defineSignal('subscriptionStopped');

const { openSubscription } = proxyLocalActivities<Activities>(firstStep);
const { paySubscriptionPeriod } = proxyActivities<Activities>(subscriptionStep);

/**
 * A recurring donation: pays the first period at once, sleeps until each next one is due, retries a refused period a
 * day after each refusal, and ends when the donor stops it or a period was refused three times. After an outage, pays
 * overdue periods one after another, in order. If the step reports that a period is not due yet, waits longer.
 */
export async function donationSubscription({
  subscriptionId,
  opening,
}: DonationSubscriptionInput): Promise<SubscriptionStatus | 'refused' | 'lapsed'> {
  let stops = 0;
  /** The stops counted before each read of the row: a signal during a read causes another. */
  let seen = 0;
  const look = (begun?: SubscriptionOpening) =>
    openSubscription({ subscriptionId, opening: begun ?? null, at: new Date(Date.now()).toISOString() });
  const pay = ({ period, attempt }: SubscriptionStanding) =>
    paySubscriptionPeriod({ subscriptionId, period, attempt, at: new Date(Date.now()).toISOString() });
  const opened = look(opening);
  setHandler(subscriptionStopped, () => {
    stops += 1;
  });
  let standing: SubscriptionStanding | undefined;
  setHandler(awaitFirstPayment, () => {
    // A request waits only if it found no row, so a restore has removed this run's row: read it now, which ends this
    // run.
    if (standing !== undefined) stops += 1;
    return opened;
  });

  try {
    standing = await opened;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return hasLapsed(refusal) ? 'lapsed' : 'refused';
  }
  while (standing.status === 'active') {
    const { period, attempt } = standing;
    const at = nextAttemptAt(standing);
    tellDetails(
      `${period} periods paid. Pays the next one at ${formatWesternIndonesia(at)} (UTC+7), ` +
        `attempt ${attempt} of ${attemptsPerPeriod}, unless its donor stops it.`,
    );
    const wait = Math.max(at.getTime() - Date.now(), standing.earlyByMs ?? 0);
    const isHinted = wait > 0 ? await condition(() => stops > seen, wait) : stops > seen;
    seen = stops;
    standing = isHinted ? await look() : await pay(standing);
    if (workflowInfo().continueAsNewSuggested && stops === seen) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof donationSubscription>({ subscriptionId });
    }
  }
  tellDetails(`Ended: ${standing.status}, after ${standing.period} paid periods.`);
  await condition(allHandlersFinished);
  return standing.status;
}

/** Returns when the next attempt is due: with its period, or a day after the previous attempt or postponement. */
function nextAttemptAt(standing: SubscriptionStanding): Date {
  const { startedAt, interval, period, attempt, lastAttemptAt, postponedAt } = standing;
  const postponed = postponedAt === undefined ? null : new Date(postponedAt);
  return attemptAt(dueAt(new Date(startedAt), interval, period), attempt, new Date(lastAttemptAt), postponed);
}
