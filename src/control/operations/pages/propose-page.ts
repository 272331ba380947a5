import { html } from 'hono/html';
import type { ProposedKind } from '../../../money-out/decisions/decision.ts';
import type { Markup } from '../../../platform/http/card-page.ts';
import { complain } from './layout.ts';

/** The values submitted with a proposal's form. */
export type Filled = Readonly<Record<string, string>>;

/** Renders the form that proposes one kind of decision. */
export function proposePage(kind: ProposedKind, filled: Filled, complaint: string | null): Markup {
  return html`${complain(complaint)}
<form method="post" action="/operations/propose">
<input type="hidden" name="kind" value="${kind}">
${fieldsOf[kind](filled)}
${noteField(filled)}
<div class="steps"><button>Propose</button> <a href="${filled.payout_id ? `/operations/payouts/${filled.payout_id}` : '/operations'}">Back</a></div>
</form>`;
}

const input = (
  name: string,
  label: string,
  filled: Filled,
  { about, isRequired = true }: { about?: string; isRequired?: boolean } = {},
): Markup =>
  html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${filled[name] ?? ''}" autocomplete="off" ${isRequired && 'required'}>
${about && html`<p class="quiet">${about}</p>`}`;

/** Renders the field that every proposal has. */
export const noteField = (filled: Filled): Markup => html`<label for="note">Note</label>
<textarea id="note" name="note" rows="3" minlength="3" maxlength="300" required aria-describedby="about-note">${filled.note ?? ''}</textarea>
<p class="quiet" id="about-note">References to the evidence: ticket, statement. Never personal data.</p>`;

/** The possible outcomes of a payout, and their effect on the money. */
export const outcomes: [value: string, words: string][] = [
  ['succeeded', 'Paid by the bank: the reserved money is spent'],
  ['failed', 'Not paid: the money returns to its account'],
];

export const choices = (
  name: string,
  legend: string,
  options: [value: string, words: string][],
  filled: Filled,
): Markup =>
  html`<fieldset><legend>${legend}</legend>${options.map(
    ([value, words]) => html`<label class="choice"><input type="radio" name="${name}" value="${value}" required
${filled[name] === value && 'checked'}> ${words}</label>`,
  )}</fieldset>`;

const fieldsOf: Record<ProposedKind, (filled: Filled) => Markup> = {
  settle_payout: (filled) => html`${input('payout_id', 'Payout', filled)}
${choices('outcome', 'Outcome', outcomes, filled)}`,
  settle_receipt: (filled) => html`${input('receipt_id', 'Receipt', filled)}
${choices(
  'action',
  'Where the money goes',
  [
    ['credit', 'To an account'],
    ['refund', 'Refunded at the provider'],
  ],
  filled,
)}
${input('account_id', 'Account', filled, { about: 'Only if the money goes to an account.', isRequired: false })}
${input('provider_reference', 'Transfer', filled, { about: 'Only if a transfer refunded the money: our reference, or the provider’s id.', isRequired: false })}`,
  explain_difference: (filled) => input('reconciliation_id', 'Difference', filled),
  book_external: (
    filled,
  ) => html`${input('amount', 'Amount in IDR', filled, { about: 'Positive if the money came to the provider, negative if it left.' })}
${input('reference', 'Reference', filled, { about: 'As on the provider’s statement.' })}
${input('account_id', 'Account of an erased person', filled, {
  about: 'Only for money that arrived after the erasure and was paid to the person.',
  isRequired: false,
})}`,
  book_transfer: (
    filled,
  ) => html`${input('payout_id', 'Payout', filled, { about: 'A payout that failed here although the provider paid it.', isRequired: false })}
${input('provider_reference', 'Reference', filled, { about: 'For an unknown or second transfer: our reference, or the provider’s id.', isRequired: false })}`,
  refund_donation: (filled) => input('donation_id', 'Donation', filled),
  admit_approver: (filled) =>
    input('user_id', 'User', filled, {
      about:
        'The user needs the permission approve-decision; neither the proposer nor the approver may have invited the user.',
    }),
  erase_person: (filled) =>
    input('user_id', 'User', filled, {
      about: 'Permanent after a waiting period, during which the erasure can be stopped.',
    }),
};

/** The heading of each decision kind's form. */
export const proposeTitles: Record<ProposedKind, string> = {
  settle_payout: 'Propose a payout’s outcome',
  settle_receipt: 'Propose a settlement for money in suspense',
  explain_difference: 'Explain a difference',
  book_external: 'Book the platform’s own transfer',
  book_transfer: 'Book a transfer that was paid',
  refund_donation: 'Propose a donation refund',
  erase_person: 'Propose erasing a person',
  admit_approver: 'Propose admitting an approver',
};
