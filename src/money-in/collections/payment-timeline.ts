import type { EntityManager } from '@mikro-orm/postgresql';
import { Partner } from '../../partners/partner.entity.ts';
import { findCallbackItems, findWebhookItems, presentTimeline, type TimelineItem } from '../../partners/timeline.ts';
import { instrumentWaitMs, settlingWaitMs } from '../../shared/asking-intervals.ts';
import { deadlineOf } from '../payments/payment-order.ts';
import type { ReceiptReason, ReceiptState } from '../payments/receipt.ts';
import type { PartnerPayment } from './partner-payment.entity.ts';
import { isFinalPayment } from './partner-payment.ts';

const outcomes = {
  PAID: 'The payment succeeded.',
  FAILED: 'The payment failed',
  EXPIRED: 'The payment expired: its amount was not paid before its deadline.',
} as const;

const expiredEarly =
  'The payment expired early: the provider closed it before its deadline, and its amount was not paid.';
/**
 * The maximum difference between the clocks: the workflow's clock decides whether the deadline has passed, the
 * database's clock dates the final status.
 */
const clocksDifferByMs = 5_000;

function outcomeText({ status, failure_code, cancelled_at, finalized_at, expires_at }: PartnerPayment): string {
  if (status === 'FAILED') return `${outcomes.FAILED}: ${failure_code}.`;
  if (status !== 'EXPIRED') return outcomes.PAID;
  if (cancelled_at) return 'The payment was cancelled.';
  const isEarly = finalized_at && finalized_at.getTime() < expires_at.getTime() - clocksDifferByMs;
  return isEarly ? expiredEarly : outcomes.EXPIRED;
}

/** The requested amount is the gross if the fee is deducted from it, and the net if the fee is added. */
function requestText({ fee_mode, amount, fee, net_amount, instrument_id }: PartnerPayment): string {
  if (instrument_id) return `IDR ${amount} was paid to the instrument ${instrument_id}.`;
  if (fee_mode === 'DEDUCTED') return `A payment of IDR ${amount} was requested.`;
  return `A payment of IDR ${net_amount} was requested; with the fee of IDR ${fee}, the customer pays IDR ${amount}.`;
}

const owedText = ({ fee_mode, fee, net_amount }: PartnerPayment): string =>
  fee_mode === 'DEDUCTED'
    ? `IDR ${net_amount} was credited to your pending balance, after a fee of IDR ${fee}.`
    : `IDR ${net_amount} was credited to your pending balance; the customer also paid the fee of IDR ${fee}.`;

/** The history of a payment in plain words, and its next step. Items of the same time are in causal order. */
export async function tellPartnerPayment(em: EntityManager, payment: PartnerPayment) {
  const items: TimelineItem[] = [
    { at: payment.created_at, type: 'request', text: requestText(payment) },
    ...(await findCallbackItems(em, payment)),
    ...(await findReceiptItems(em, payment)),
    ...(await findRefundItems(em, payment.id)),
  ];
  if (payment.instrument_asked_at) {
    const isUnknown = payment.status === 'PENDING' && !payment.instrument_at;
    const text = `The provider was asked for a payment code${isUnknown ? ', and the outcome is still unknown' : ''}.`;
    items.push({ at: payment.instrument_asked_at, type: 'provider', text });
  }
  if (payment.instrument_at) {
    items.push({ at: payment.instrument_at, type: 'provider', text: 'The provider created the payment code.' });
  } else if (payment.status === 'FAILED' && payment.finalized_at) {
    items.push({ at: payment.finalized_at, type: 'provider', text: 'The provider refused the payment.' });
  }
  if (payment.cancelled_at) {
    const text = 'You requested cancellation; the provider is asked to accept no more money.';
    items.push({ at: payment.cancelled_at, type: 'request', text });
  }
  if (payment.settling_since) {
    const text = 'The provider reports this as paid or pending, but lists no payment that can be settled yet.';
    items.push({ at: payment.settling_since, type: 'provider', text });
  }
  if (payment.finalized_at) {
    const { status, finalized_at: at } = payment;
    if (status === 'PAID') items.push({ at, type: 'ledger', text: owedText(payment) });
    if (payment.released_at) {
      const text = `IDR ${payment.net_amount} became available.`;
      items.push({ at: payment.released_at, type: 'ledger', text });
    }
    items.push({ at, type: 'outcome', text: outcomeText(payment) });
  }
  items.push(...(await findWebhookItems(em, 'payment', payment.id)));
  return presentTimeline(items, nextOf(payment));
}

function nextOf(payment: PartnerPayment) {
  const { status, expires_at, settling_since, available_at, released_at, net_amount } = payment;
  if (settling_since && !isFinalPayment(status)) {
    const now = Date.now();
    // An upper bound: the workflow last asked before now, so its wait ends no later than a wait that begins now.
    const wait = settlingWaitMs({ since: settling_since.getTime(), deadline: deadlineOf(payment).getTime(), now });
    const text =
      'The provider reports the payment as paid or pending. We ask again by this time, and until it can be settled.';
    return { at: new Date(now + wait), text };
  }
  if (payment.cancelled_at && !isFinalPayment(status)) {
    return { at: null, text: 'The payment becomes final once the provider accepts no more money for it.' };
  }
  if (status === 'PENDING') {
    const now = Date.now();
    const since = payment.created_at.getTime();
    // An upper bound, as above.
    const at = new Date(now + instrumentWaitMs({ since, deadline: expires_at.getTime(), now }));
    const again = payment.instrument_asked_at ? 'again, under the same reference,' : 'under our reference';
    return { at, text: `By this time we request the payment code ${again} and retry until the deadline.` };
  }
  if (status === 'WAITING_PAYMENT') {
    return { at: expires_at, text: 'The customer may pay until the deadline; then the payment expires.' };
  }
  if (status === 'PAID' && !released_at) {
    return { at: available_at ?? null, text: `IDR ${net_amount} becomes available.` };
  }
  return null;
}

interface RefundRow {
  amount: string;
  reference: string;
  status: string;
  failure_code: string | null;
  created_at: Date | string;
  succeeded_at: Date | string | null;
  finalized_at: Date | string | null;
  booked_at: Date | string | null;
}

/** The payment's refunds and their outcomes. */
async function findRefundItems(em: EntityManager, paymentId: string): Promise<TimelineItem[]> {
  const rows = await em.execute<RefundRow[]>(
    `select p.amount::text, p.reference, p.status, p.failure_code, p.created_at, p.succeeded_at, p.finalized_at,
       p.booked_at
     from payment_refunds r join payouts p on p.id = r.id where r.payment_id = ? order by r.created_at, r.id limit 100`,
    [paymentId],
  );
  return rows.flatMap(
    ({ amount, reference, status, failure_code, created_at, succeeded_at, finalized_at, booked_at }) => {
      const items: TimelineItem[] = [
        { at: new Date(created_at), type: 'request', text: `A refund of IDR ${amount} was requested (${reference}).` },
      ];
      if (succeeded_at) {
        items.push({ at: new Date(succeeded_at), type: 'outcome', text: `IDR ${amount} was refunded (${reference}).` });
      }
      if (finalized_at && status !== 'succeeded') {
        const why = status === 'reversed' ? 'the bank returned the money after the refund had succeeded' : failure_code;
        const text = `The refund ${reference} failed: ${why}. IDR ${amount} is available again.`;
        items.push({ at: new Date(finalized_at), type: 'outcome', text });
      }
      if (booked_at) {
        const text = `Our operators established that the refund ${reference} was paid after all, and booked it.`;
        items.push({ at: new Date(booked_at), type: 'outcome', text });
      }
      return items;
    },
  );
}

interface ReceiptRow {
  amount: string;
  reason: ReceiptReason;
  state: Exclude<ReceiptState, 'applied'>;
  received_at: Date | string;
  settled_at: Date | string | null;
  account_id: string | null;
}

/** Texts for money that arrived but was not applied to the payment. */
const cameTexts: Record<ReceiptReason, string> = {
  late: 'arrived after the payment was final',
  double: 'arrived as a second payment',
  wrong_amount: 'arrived instead of the amount due',
  unknown: 'arrived without matching a known payment',
};

/** Money that arrived for this payment but could not be applied to it, and where it went. */
async function findReceiptItems(em: EntityManager, { id, partner_id }: PartnerPayment): Promise<TimelineItem[]> {
  const rows = await em.execute<ReceiptRow[]>(
    `select amount, reason, state, received_at, settled_at, account_id from receipts
     where reference = ? and state <> 'applied' order by received_at`,
    [id],
  );
  if (rows.length === 0) return [];
  const { available_account_id } = await em.findOneOrFail(Partner, { id: partner_id });
  return rows.flatMap(({ amount, reason, state, received_at, settled_at, account_id }): TimelineItem[] => {
    const held = state === 'suspended' ? 'is' : 'was';
    const text = `IDR ${amount} ${cameTexts[reason]} (${reason.replace('_', ' ')}) and ${held} held for the operators.`;
    const came: TimelineItem = { at: new Date(received_at), type: 'ledger', text };
    if (state === 'suspended' || settled_at === null) return [came];
    const credited = account_id === available_account_id ? 'your available balance' : 'another account';
    const end = state === 'credited' ? `credited to ${credited}` : 'refunded by the provider';
    const ended = `IDR ${amount} that was held was ${end}.`;
    return [came, { at: new Date(settled_at), type: 'ledger', text: ended }];
  });
}
