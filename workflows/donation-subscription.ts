import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  attemptAt,
  attemptsPerPeriod,
  dueAt,
  type SubscriptionOpening,
  type SubscriptionStanding,
  type SubscriptionStatus,
} from '../src/donations/subscription.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { hasLapsed } from './refusal.ts';

export interface DonationSubscriptionInput {
  subscriptionId: string;
  /** What the request asked for. Absent when a subscription that has its row goes on. */
  opening?: SubscriptionOpening;
}

/** The request waits for this: the first payment is made, or refused. */
export const awaitFirstPayment = defineUpdate<SubscriptionStanding>('awaitFirstPayment');
/** The donor stopped it. A hint: it only makes the workflow look. */
export const subscriptionStopped = defineSignal('subscriptionStopped');

const { openSubscription } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});
const { paySubscriptionPeriod } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute' },
});

/**
 * A donation that repeats: pays the first period at once, sleeps until each next one is due, tries a refused period
 * again one and two days later, and ends when its donor stops it or a period was refused three times.
 */
export async function donationSubscription({
  subscriptionId,
  opening,
}: DonationSubscriptionInput): Promise<SubscriptionStatus | 'refused' | 'lapsed'> {
  let stops = 0;
  /** Counted before each look at the row: a hint that comes while one is under way asks for another. */
  let seen = 0;
  const look = (begun?: SubscriptionOpening) =>
    openSubscription({ subscriptionId, opening: begun ?? null, at: new Date(Date.now()).toISOString() });
  const opened = look(opening);
  setHandler(subscriptionStopped, () => {
    stops += 1;
  });
  setHandler(awaitFirstPayment, () => opened);

  let standing: SubscriptionStanding;
  try {
    standing = await opened;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return hasLapsed(refusal) ? 'lapsed' : 'refused';
  }
  while (standing.status === 'active') {
    const { period, attempt } = standing;
    const at = attemptAt(dueAt(new Date(standing.startedAt), standing.interval, period), attempt);
    setCurrentDetails(
      `${period} periods paid. Pays the next one at ${formatWesternIndonesia(at)} (UTC+7), ` +
        `attempt ${attempt} of ${attemptsPerPeriod}, unless its donor stops it.`,
    );
    const wait = at.getTime() - Date.now();
    const isHinted = wait > 0 ? await condition(() => stops > seen, wait) : stops > seen;
    seen = stops;
    standing = isHinted ? await look() : await paySubscriptionPeriod({ subscriptionId, period, attempt });
    if (workflowInfo().continueAsNewSuggested && stops === seen) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof donationSubscription>({ subscriptionId });
    }
  }
  setCurrentDetails(`Ended: ${standing.status}, after ${standing.period} paid periods.`);
  await condition(allHandlersFinished);
  return standing.status;
}
