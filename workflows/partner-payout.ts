import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  type PartnerPayoutInput,
  type PayoutSettlement,
  type PayoutStanding,
  type PayoutStatus,
  restOf,
  type Said,
} from '../src/payouts/payout.ts';
import { nextPayoutWaitMs } from '../src/shared/asking-intervals.ts';
import { budgets } from '../src/shared/budgets.ts';
import { isNote, notANote } from '../src/shared/note.ts';
import { tellPayout } from './payout-progress.ts';
import { hasLapsed, withRefusals } from './refusal.ts';
import { startDelivery } from './start-delivery.ts';
import { firstStep, ledgerStep, providerStep } from './step-options.ts';

/** The request waits for this: the money is reserved, or the reason why it is not. */
export const awaitReservation = defineUpdate<PayoutStatus>('awaitReservation');
/** Somebody said that something happened to this transfer. A hint: it only makes the workflow ask. */
export const callbackArrived = defineSignal('callbackArrived');
/** Ends a payout that nobody else can tell, with evidence. Refused with what the provider says otherwise. */
export const settlePayout = defineUpdate<PayoutStatus, [PayoutSettlement]>('settlePayout');

const { reservePayout } = proxyLocalActivities<Activities>(firstStep);
const { resolvePayout } = proxyActivities<Activities>(ledgerStep);
const { askTransfer, sendTransfer, settlePayout: endByHand } = proxyActivities<Activities>(providerStep);

/** How the workflow ends: with the payout, or without one. */
type PayoutEnd = PayoutStatus | 'REFUSED' | 'LAPSED';

/** Events after which the story goes on in a new history. */
const longestHistory = 1500;

/**
 * A payout, from its reservation to its end: reserves the money, sends the transfer, and then believes nobody but the
 * provider, whom it asks after each callback and at growing intervals for as long as it takes. Where the provider does
 * not know the transfer, the very same request is made again, a few times. What nobody can tell stays pending with the
 * money reserved until the provider or an operator says how it ended.
 */
export async function partnerPayout({ payoutId, opening }: PartnerPayoutInput): Promise<PayoutEnd> {
  let hints = 0;
  let told = '';
  let sending = false;
  let payout: PayoutStanding | undefined;
  const at = () => new Date(Date.now()).toISOString();
  const keep = async (standing: PayoutStanding): Promise<PayoutStatus> => {
    payout = standing;
    for (const deliveryId of standing.deliveryIds) await startDelivery(deliveryId, 'payout');
    return standing.status;
  };
  const reserved = reservePayout({ payoutId, opening: opening ?? null });
  setHandler(
    callbackArrived,
    () => {
      hints += 1;
    },
    { description: 'Makes the workflow ask the provider now' },
  );
  setHandler(awaitReservation, async () => (await reserved).status, { description: 'For the API' });
  setHandler(
    settlePayout,
    async (settlement) => {
      await reserved;
      // A sending step that fails for ever does not keep operators waiting: the database lets only one of the two be.
      if (sending && patched('bounded-wait-for-sending')) await condition(() => !sending, budgets.steps.provider);
      else await condition(() => !sending);
      return keep(await withRefusals(endByHand({ payoutId, settlement, at: at() })));
    },
    {
      validator: refuseMalformedSettlement,
      description:
        'Ends the payout, with evidence: { "outcome": "succeeded" | "failed", "note", "who": a platform user\'s id, ' +
        '"force"?: true }. Refused when the provider says otherwise, unless forced',
    },
  );
  try {
    payout = await reserved;
  } catch (refusal) {
    await condition(allHandlersFinished);
    if (opening === undefined) throw refusal;
    return hasLapsed(refusal) ? 'LAPSED' : 'REFUSED';
  }

  let said: Said | null = null;
  /** The provider is not called for this payout before so many milliseconds have passed. */
  let restMs = 0;
  const tell = (waitMs: number) => {
    if (payout !== undefined) told = tellPayout({ ...payout, said, waitMs }, told);
  };
  /** Sends what was not sent, asks about what was, and draws the consequence. */
  const proceed = async (deed: 'send' | 'ask') => {
    sending = deed === 'send';
    const word = await (sending ? sendTransfer({ payoutId, at: at() }) : askTransfer({ payoutId, at: at() }));
    sending = false;
    restMs = restOf(word);
    if (restMs === 0 || word.said !== 'silent') said = word.said;
    await keep(await resolvePayout({ payoutId, word }));
    return word;
  };
  /** Asks; where the provider does not know the transfer and the step says so, the very same request is made again. */
  const askOrRepeat = async () => {
    const word = await proceed('ask');
    if (word.said === 'not known' && word.repeat && isPending() && patched('repeat')) await proceed('send');
  };
  const isPending = () => payout?.status === 'pending';

  tell(0);
  let seen = hints;
  if (isPending() && opening !== undefined) await proceed('send');
  else if (!isPending()) await proceed('ask');
  while (isPending()) {
    const elapsed = Date.now() - Date.parse(payout.reservedAt);
    if (restMs > 0 && patched('rest')) {
      // Hints wait too: the provider would not answer.
      const rest = nextPayoutWaitMs(elapsed, restMs);
      tell(rest);
      await condition(() => !isPending(), rest);
    } else {
      const wait = nextPayoutWaitMs(elapsed, 0);
      tell(wait);
      await condition(() => hints > seen || !isPending(), wait);
    }
    if (!isPending()) break;
    seen = hints;
    // Where nothing has left, sending again is sending for the first time; the step knows, and asks where something has.
    if (said === 'unsent' || said === null) await proceed('send');
    else await askOrRepeat();
    const isLong = workflowInfo().historyLength > longestHistory || workflowInfo().continueAsNewSuggested;
    if (isPending() && isLong && hints === seen) {
      await condition(allHandlersFinished);
      if (isPending()) await continueAsNew<typeof partnerPayout>({ payoutId });
    }
  }
  while (hints > seen) {
    seen = hints;
    await proceed('ask');
  }
  tell(0);
  await condition(allHandlersFinished);
  return payout.status;
}

function refuseMalformedSettlement(settlement: PayoutSettlement): void {
  const { outcome, note, who, force }: Partial<PayoutSettlement> = settlement ?? {};
  const refuse = (complaint: string) => {
    throw ApplicationFailure.nonRetryable(complaint, 'REQUEST_INVALID');
  };
  if (outcome !== 'succeeded' && outcome !== 'failed') refuse('outcome is "succeeded" or "failed"');
  if (!isNote(note)) refuse(notANote);
  if (typeof who !== 'string') refuse('who is the id of a platform user');
  if (force !== undefined && typeof force !== 'boolean') refuse('force is true or false');
}
