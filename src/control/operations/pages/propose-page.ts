import { html } from 'hono/html';
import type { ProposedKind } from '../../../money-out/decisions/decision.ts';
import { complain, type Markup } from './layout.ts';

/** The values submitted with a proposal's form. */
export type Filled = Readonly<Record<string, string>>;

/** The form that proposes one kind of decision. */
export function proposePage(kind: ProposedKind, filled: Filled, complaint: string | null): Markup {
  return html`${complain(complaint)}
<form method="post" action="/operations/propose">
<input type="hidden" name="kind" value="${kind}">
${fieldsOf[kind](filled)}
${noteField(filled)}
<div class="steps"><button>Propose</button> <a href="/operations">Back</a></div>
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

/** The field that every proposal has. */
export const noteField = (filled: Filled): Markup => html`<label for="note">Note</label>
<textarea id="note" name="note" rows="3" minlength="3" maxlength="300" required aria-describedby="about-note">${filled.note ?? ''}</textarea>
<p class="quiet" id="about-note">The evidence, by its references: ticket, statement. Never personal data.</p>`;

/** How a payout may have ended, and what the money does then. */
export const outcomes: [value: string, words: string][] = [
  ['succeeded', 'The bank paid it out: the reserved money is spent'],
  ['failed', 'It was not paid out: the money goes back to the account it came from'],
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
${choices('outcome', 'How it ended', outcomes, filled)}`,
  settle_receipt: (filled) => html`${input('receipt_id', 'Receipt', filled)}
${choices(
  'action',
  'Where the money goes',
  [
    ['credit', 'To an account'],
    ['refund', 'It was given back at the provider'],
  ],
  filled,
)}
${input('account_id', 'Account', filled, { about: 'Only where it goes to an account.', isRequired: false })}`,
  explain_difference: (filled) => input('reconciliation_id', 'Difference', filled),
  book_external: (
    filled,
  ) => html`${input('amount', 'Amount in IDR', filled, { about: 'Above 0 for money that came to the provider, below 0 for money that left it.' })}
${input('reference', 'Reference', filled, { about: 'As the provider’s statement has it.' })}
${input('account_id', 'Account of an erased person', filled, {
  about: 'Only for money that came to it after the erasure and was paid to the person.',
  isRequired: false,
})}`,
  book_transfer: (
    filled,
  ) => html`${input('payout_id', 'Payout', filled, { about: 'One that failed here and that the provider made.', isRequired: false })}
${input('provider_reference', 'Reference', filled, { about: 'Or of a transfer that nobody knows, or a second one: ours, or the provider’s id.', isRequired: false })}`,
  refund_donation: (filled) => input('donation_id', 'Donation', filled),
  admit_approver: (filled) =>
    input('user_id', 'User', filled, { about: 'With the permission, and invited by neither of the two who decide.' }),
  erase_person: (filled) =>
    input('user_id', 'User', filled, { about: 'For good, after a time in which it may be stopped.' }),
};

/** The heading of each decision kind's form. */
export const proposeTitles: Record<ProposedKind, string> = {
  settle_payout: 'Propose how a payout ended',
  settle_receipt: 'Propose where money in suspense goes',
  explain_difference: 'Explain a difference',
  book_external: 'Book what the platform moved',
  book_transfer: 'Book a transfer that left',
  refund_donation: 'Propose giving a donation back',
  erase_person: 'Propose to erase a person',
  admit_approver: 'Propose to admit an approver',
};
