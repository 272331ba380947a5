import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReceiptOpening, StrayPayment } from '../src/payments/payment-contract.ts';
import type { ReceiptSettlement, ReceiptState } from '../src/payments/receipt.ts';
import { isNote, notANote } from '../src/shared/note.ts';
import { searchAttributeKeys } from '../src/temporal/search-attributes.ts';
import { withRefusals } from './refusal.ts';
import { ledgerStep, providerStep } from './step-options.ts';

/** Ends the case: the money is credited to an account, or was given back outside. Refused with the reason. */
export const settleReceipt = defineUpdate<ReceiptState, [ReceiptSettlement]>('settleReceipt');

const { openReceipt } = proxyActivities<Activities>(providerStep);
const activities = proxyActivities<Activities>(ledgerStep);

/**
 * Money that came late, twice, for nobody we know or in another amount. It is confirmed with the provider, put into
 * suspense, and this workflow stays open until an operator says where it goes. What pays something open of ours is left
 * to that one's workflow, and looked at until it was taken.
 */
export async function unmatchedReceipt(stray: StrayPayment): Promise<ReceiptEnd> {
  let opened: ReceiptOpening | undefined;
  let end: ReceiptEnd | undefined;
  setHandler(
    settleReceipt,
    async (settlement) => {
      await condition(() => opened !== undefined);
      if (opened?.outcome !== 'suspended') {
        throw ApplicationFailure.nonRetryable('there is no money in suspense here', 'REQUEST_INVALID');
      }
      const state = await withRefusals(activities.settleReceipt({ receiptId: stray.receiptId, settlement }));
      end = state;
      return state;
    },
    {
      validator: refuseMalformedSettlement,
      description:
        'Ends the case: { "action": "credit" | "refund", "account_id": for a credit, "note", "who": a platform ' +
        "user's id }",
    },
  );
  opened = await openReceipt(stray);
  if (isUndecided(opened) && patched('ask-again-about-receipts')) opened = await askAgain(stray, opened);
  if (opened.outcome === 'suspended') {
    upsertSearchAttributes([
      { key: searchAttributeKeys.PaymentState, value: 'SUSPENSE' },
      { key: searchAttributeKeys.AmountIdr, value: opened.amountIdr },
    ]);
    setCurrentDetails(
      `IDR ${opened.amountIdr} in suspense (${opened.reason}). Waits, as long as it takes, for the update ` +
        'settleReceipt: { "action": "credit" | "refund", "account_id"?, "note", "who" }.',
    );
    await condition(() => end !== undefined);
  }
  await condition(allHandlersFinished);
  end ??= opened.outcome;
  upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: end.toUpperCase() }]);
  setCurrentDetails(`Ended: ${end}.`);
  return end;
}

type ReceiptEnd = ReceiptState | ReceiptOpening['outcome'];

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
/** The provider may know or end a payment a while after it told of it; what it does not know for a day never came. */
const unconfirmedMs = 24 * hourMs;

const isUndecided = ({ outcome }: ReceiptOpening): boolean => outcome === 'owned' || outcome === 'unconfirmed';

/**
 * Asks at intervals that grow from three seconds to an hour: about what the provider does not confirm for a day, and about
 * what is somebody's for as long as that one is open and has not taken it.
 */
async function askAgain(stray: StrayPayment, first: ReceiptOpening): Promise<ReceiptOpening> {
  const since = Date.now();
  let opened = first;
  while (isUndecided(opened)) {
    const elapsed = Date.now() - since;
    if (opened.outcome === 'unconfirmed' && elapsed >= unconfirmedMs) return opened;
    upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: opened.outcome.toUpperCase() }]);
    setCurrentDetails(stories[opened.outcome === 'owned' ? 'owned' : 'unconfirmed']);
    await sleep(Math.min(Math.max(elapsed, 3 * secondMs), hourMs));
    opened = await openReceipt(stray);
    if (isUndecided(opened) && workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof unmatchedReceipt>(stray);
    }
  }
  return opened;
}

const stories = {
  owned: 'The money of an open payment: its workflow was woken and takes it. Looked at again until it has.',
  unconfirmed: 'The provider does not know this payment, or has not ended it. It is asked again for a day.',
} as const;

function refuseMalformedSettlement(settlement: ReceiptSettlement): void {
  const complaint = complaintAbout(settlement ?? {});
  if (complaint !== undefined) throw ApplicationFailure.nonRetryable(complaint, 'REQUEST_INVALID');
}

function complaintAbout({ action, account_id, note, who }: Partial<ReceiptSettlement>): string | undefined {
  if (action !== 'credit' && action !== 'refund') return 'action is "credit" or "refund"';
  if (action === 'credit' && typeof account_id !== 'string') return 'account_id is needed for credit';
  if (!isNote(note)) return notANote;
  return typeof who === 'string' ? undefined : 'who is the id of a platform user';
}
