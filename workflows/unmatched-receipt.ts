import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReceiptOpening, StrayPayment } from '../src/money-in/payments/payment-contract.ts';
import type { ReceiptSettlement, ReceiptState } from '../src/money-in/payments/receipt.ts';
import { decisionLookMs } from '../src/shared/asking-intervals.ts';
import { isUuid } from '../src/shared/uuid.ts';
import { searchAttributeKeys } from '../src/wiring/temporal/search-attributes.ts';
import { tellDetails } from './go-on.ts';
import { withRefusals } from './refusal.ts';
import { providerStep } from './step-options.ts';

/**
 * Settles the money as two people have decided: credits it to an account, or records that it was refunded outside the
 * platform. If that is impossible, the decision fails with the reason. The API does the same on its own.
 */
export const settleReceipt = defineUpdate<ReceiptState, [ReceiptSettlement]>('settleReceipt');

/** A hint that this money may have changed: the workflow checks. */
export const receiptChanged = defineSignal('receiptChanged');

const { openReceipt, settleReceipt: settleByDecision } = proxyActivities<Activities>(providerStep);

/**
 * Money that arrived late, twice, for an unknown payment or in another amount. Confirms it with the provider and posts
 * it to suspense; the workflow stays open until operators decide where it goes. Money for one of our open payments is
 * left to that payment's workflow, and checked until it is applied.
 */
export async function unmatchedReceipt(stray: StrayPayment): Promise<ReceiptOpening['outcome']> {
  let hints = 0;
  let seen = 0;
  setHandler(
    settleReceipt,
    async (settlement) => {
      const state = await withRefusals(settleByDecision({ receiptId: stray.receiptId, settlement }));
      hints += 1;
      return state;
    },
    {
      validator: refuseMalformedSettlement,
      description:
        'Closes the case as two people have decided: { "decision_id" } of a decision made at POST /v1/decisions',
    },
  );
  setHandler(receiptChanged, () => {
    hints += 1;
  });
  const look: Look = async (waitMs) => {
    if (waitMs !== undefined) await condition(() => hints > seen, waitMs);
    seen = hints;
    return openReceipt(stray);
  };
  let opened = await look();
  if (isUndecided(opened)) opened = await askAgain(stray, opened, look);
  if (opened.outcome === 'suspended') {
    upsertSearchAttributes([
      { key: searchAttributeKeys.PaymentState, value: 'SUSPENSE' },
      { key: searchAttributeKeys.AmountIdr, value: opened.amountIdr },
    ]);
    tellDetails(
      `IDR ${opened.amountIdr} in suspense (${opened.reason}). Two people decide where it goes: ` +
        `/operations/propose?kind=settle_receipt&receipt_id=${stray.receiptId}`,
    );
    // Completes once the money is settled, or applied to a restored row. Opens the receipt again if a restored database
    // lacks it.
    while (opened.outcome === 'suspended') {
      await renewWhenLong(stray);
      opened = await look(decisionLookMs);
    }
  }
  await condition(allHandlersFinished);
  upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: opened.outcome.toUpperCase() }]);
  tellDetails(`Ended: ${opened.outcome}.`);
  return opened.outcome;
}

/** Checks what happened to the money, after a wait or a hint. */
type Look = (waitMs?: number) => Promise<ReceiptOpening>;

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
/**
 * The provider may show or finalize a payment some time after announcing it; a payment not shown for a day never
 * existed.
 */
const unconfirmedMs = 24 * hourMs;

const isUndecided = ({ outcome }: ReceiptOpening): boolean => outcome === 'owned' || outcome === 'unconfirmed';

/**
 * Asks at intervals that grow from three seconds to an hour: for a day about money that the provider does not confirm,
 * and about money for an open payment until it is applied or the payment is final.
 */
async function askAgain(stray: StrayPayment, first: ReceiptOpening, look: Look): Promise<ReceiptOpening> {
  const since = Date.now();
  let opened = first;
  while (isUndecided(opened)) {
    const elapsed = Date.now() - since;
    if (opened.outcome === 'unconfirmed' && elapsed >= unconfirmedMs) return opened;
    upsertSearchAttributes([{ key: searchAttributeKeys.PaymentState, value: opened.outcome.toUpperCase() }]);
    tellDetails(stories[opened.outcome === 'owned' ? 'owned' : 'unconfirmed']);
    await renewWhenLong(stray);
    opened = await look(Math.min(Math.max(elapsed, 3 * secondMs), hourMs));
  }
  return opened;
}

async function renewWhenLong(stray: StrayPayment): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  await continueAsNew<typeof unmatchedReceipt>(stray);
}

const stories = {
  owned: 'The money belongs to an open payment, whose workflow was woken. Checked again until it is applied.',
  unconfirmed: 'The provider does not know this payment, or it is not final yet. We ask again for a day.',
} as const;

function refuseMalformedSettlement(settlement: ReceiptSettlement): void {
  const { decision_id, ...others }: Partial<ReceiptSettlement> = settlement ?? {};
  if (typeof decision_id === 'string' && isUuid(decision_id) && Object.keys(others).length === 0) return;
  throw ApplicationFailure.nonRetryable(
    'decision_id, alone, is the id of a decision of two people: POST /v1/decisions',
    'REQUEST_INVALID',
  );
}
