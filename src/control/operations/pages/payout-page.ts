import { html } from 'hono/html';
import type { Markup } from '../../../platform/http/card-page.ts';
import { addMoney } from '../../../shared/money.ts';
import { workflowIds } from '../../../shared/workflow-ids.ts';
import { type DecisionShown, saysWhat } from './decision-page.ts';
import type { Listed, Part } from './part.ts';
import { unreadable } from './part.ts';
import { choices, noteField, outcomes } from './propose-page.ts';
import { instant, instantOr, money, words } from './spell.ts';

/** The partner of a resource; null if it has none. */
export interface OfPartner {
  partner_id: string | null;
  partner_name: string | null;
}

/** The fields of a payout in API responses that the pages show. */
export interface PayoutFacts extends OfPartner {
  id: string;
  reference: string;
  external_ref: string | null;
  kind: 'partner_payout' | 'withdrawal' | 'payment_refund';
  status: string;
  amount: string;
  fee: string;
  net_amount: string;
  batch_id: string | null;
  user_id: string | null;
  organization_id: string | null;
  cause_id: string | null;
  payment_id: string | null;
  bank_code: string | null;
  bank_account_number: string | null;
  beneficiary_name: string | null;
  failure_code: string | null;
  provider_transfer_id: string | null;
  provider_says: string | null;
  provider_asked_at: string | null;
  unknown_since: string | null;
  contradicted_at: string | null;
  booked_at: string | null;
  created_at: string;
  finalized_at: string | null;
}
export interface TimelineShown {
  items: { at: string; type: string; text: string }[];
  next: { at: string | null; text: string } | null;
}
export interface EventShown {
  id: string;
  event: string;
  actor_id: string | null;
  data: Record<string, unknown> | null;
  created_at: string;
}
export interface JournalShown {
  id: string;
  kind: string;
  created_at: string;
  postings: { account_id: string; account_kind: string; amount: string }[];
}
export interface DeliveryShown {
  id: string;
  type: string;
  status: string;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  delivered_at: string | null;
  created_at: string;
}

const workflowOf: Record<PayoutFacts['kind'], (id: string) => string> = {
  partner_payout: workflowIds.partnerPayout,
  withdrawal: workflowIds.withdrawal,
  payment_refund: workflowIds.paymentRefund,
};
export const payoutWorkflow = ({ kind, id }: PayoutFacts): string => workflowOf[kind](id);

/** Renders a fact as a row; nothing without a value. */
export const row = (name: string, value: Markup | string | null | undefined): Markup | string =>
  value === null || value === undefined || value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;

export const partnerLink = ({ partner_id: id, partner_name: name }: OfPartner): Markup | null =>
  id === null ? null : html`<a href="/operations/partners/${id}">${name ?? id}</a>`;

/** Status, owner, bank and amounts: proposer and approver see the same facts. */
export const payoutFacts = (payout: PayoutFacts): Markup => html`<dl>
${row('Reference', payout.reference)}
${row('Status', html`<strong>${words(payout.status)}</strong>${payout.failure_code && `, ${payout.failure_code}`}`)}
${row('What', payout.cause_id ? 'disbursement' : words(payout.kind))}
${row('Amount', `${money(payout.amount)}; fee ${money(payout.fee)}; ${money(payout.net_amount)} goes to the bank`)}
${row('To', payout.bank_code ? `${payout.bank_code} ${payout.bank_account_number ?? ''} ${payout.beneficiary_name ?? ''}` : 'the wallet that paid')}
${row('External reference', payout.external_ref)}
${row('Partner', partnerLink(payout))}
${row('Batch', payout.batch_id && html`<a href="/operations/batches/${payout.batch_id}">${payout.batch_id}</a>`)}
${row('User', payout.user_id && html`<a href="/operations/payouts?user_id=${payout.user_id}">${payout.user_id}</a>`)}
${row('Organization', payout.organization_id)}
${row('Cause', payout.cause_id)}
${row('Payment', payout.payment_id && html`<a href="/operations/payments/${payout.payment_id}">${payout.payment_id}</a>`)}
${row('Provider’s status', payout.provider_says && `${payout.provider_says}, asked ${instantOr(payout.provider_asked_at, 'never')}`)}
${row('Provider’s id', payout.provider_transfer_id)}
${row('Unknown since', payout.unknown_since && instant(payout.unknown_since))}
${row('Contradicted since', payout.contradicted_at && instant(payout.contradicted_at))}
${row('Requested', instant(payout.created_at))}
${row('Ended', payout.finalized_at && instant(payout.finalized_at))}
${row('Booked', payout.booked_at && instant(payout.booked_at))}
${row('Id', html`<code>${payout.id}</code>`)}
</dl>`;

/** Renders the next step, and its time. */
export const nextOf = ({ next }: TimelineShown): Markup | string =>
  next === null ? '' : html`<p><strong>Next</strong>${next.at && ` (${instant(next.at)})`}: ${next.text}</p>`;

/** Warns whoever settles a payout by hand that the product may still settle it by itself. */
export const goesOnOf = ({ next }: TimelineShown): Markup | string =>
  next === null ? '' : html`<p class="complaint">The workflow is still running: ${next.text}</p>`;

/** Renders the payout's history, oldest first. */
export const timelineOf = ({ items }: TimelineShown): Markup =>
  html`<ol class="cards">${items.map(({ at, text }) => html`<li><span class="quiet">${instant(at)}</span><br>${text}</li>`)}</ol>`;

/** Renders a part of a page; nothing if the caller may not read it. */
export function sectionOf<Shown>(title: string, part: Part<Shown>, show: (shown: Shown) => Markup): Markup | string {
  if (part === null) return '';
  return html`<h2>${title}</h2>
${part === unreadable ? html`<p class="complaint">This is currently unavailable. Reload the page.</p>` : show(part)}`;
}

/** Renders items, or a sentence if there are none. */
export const cards = <Item>(none: string, items: readonly Item[], show: (item: Item) => Markup): Markup =>
  items.length === 0
    ? html`<p class="quiet">${none}</p>`
    : html`<ul class="cards">${items.map((item) => html`<li>${show(item)}</li>`)}</ul>`;

export const eventsOf = ({ items }: Listed<EventShown>): Markup =>
  cards(
    'None.',
    items,
    ({
      event,
      actor_id,
      data,
      created_at,
    }) => html`${words(event)} <span class="quiet">${instant(created_at)}${actor_id && `, by ${actor_id}`}</span>
${typeof data?.journal_id === 'string' && html`<br><span class="quiet">Journal <code>${data.journal_id}</code></span>`}`,
  );

/** Renders journals with their postings: a debit is negative. */
export const journalsOf = (journals: readonly JournalShown[]): Markup =>
  cards(
    'None.',
    journals,
    ({ id, kind, created_at, postings }) => html`${words(kind)} <span class="quiet">${instant(created_at)}</span>
${postings.map((posting) => html`<br>${money(posting.amount)} <span class="quiet">${words(posting.account_kind)} <code>${posting.account_id}</code></span>`)}
<br><span class="quiet">Journal <code>${id}</code></span>`,
  );

/** Renders webhooks, each with a form to resend it. */
export const deliveriesOf = (partnerId: string, back: string, { items }: Listed<DeliveryShown>): Markup =>
  cards(
    'None.',
    items,
    (one) => html`${one.type}: ${words(one.status)}, ${one.attempts} ${one.attempts === 1 ? 'attempt' : 'attempts'}
<span class="quiet">${instant(one.delivered_at ?? one.created_at)}${one.last_error && `, ${one.last_error}`}</span>
<form method="post" action="/operations/partners/${partnerId}/webhooks/${one.id}/redeliver">
<input type="hidden" name="back" value="${back}"><button class="plain">Send again</button></form>`,
  );

export const decisionsOf = ({ items }: Listed<DecisionShown>): Markup =>
  cards(
    'No decisions.',
    items,
    (
      decision,
    ) => html`<a href="/operations/decisions/${decision.id}">${saysWhat(decision)}</a>: ${words(decision.status)}
<br><span class="quiet">${instant(decision.created_at)}: ${decision.note}</span>`,
  );

/** Describes the effect of a decision about a payout on the money; null if its next step does. */
export function moneyOf({ fee, net_amount }: PayoutFacts, { kind, outcome }: DecisionShown): string | null {
  if (kind === 'book_transfer')
    return `${money(net_amount)} is debited from the account that paid, as far as its balance goes; the rest is a loss.`;
  if (kind !== 'settle_payout') return null;
  return outcome === 'succeeded'
    ? `${money(net_amount)} is booked as paid out, and the fee of ${money(fee)} is charged.`
    : `The reservation of ${money(addMoney(net_amount, fee))} is released, including the fee.`;
}

/**
 * Renders the form that proposes a payout's outcome, or the booking of a payout that the provider paid although it
 * failed here.
 */
export function proposalOf(payout: PayoutFacts, timeline: Part<TimelineShown>): Markup | string {
  const isContradicted = payout.status === 'failed' && payout.contradicted_at !== null;
  if (payout.status !== 'pending' && !isContradicted) return '';
  return html`<h2>${isContradicted ? 'Propose booking the transfer' : 'Propose the outcome'}</h2>
${timeline !== null && timeline !== unreadable && !isContradicted && goesOnOf(timeline)}
<form method="post" action="/operations/propose">
<input type="hidden" name="kind" value="${isContradicted ? 'book_transfer' : 'settle_payout'}">
<input type="hidden" name="payout_id" value="${payout.id}">
${!isContradicted && choices('outcome', 'Outcome', outcomes, {})}
${noteField({})}
<div class="steps"><button>Propose</button></div>
</form>`;
}
