import { html } from 'hono/html';
import type { DecisionKind, DecisionStatus, ProposedKind } from '../../decisions/decision.ts';
import { complain, type Markup } from './layout.ts';

/** The parts of the API's answers that the pages show. */
export interface OverviewShown {
  at: string;
  cases: WaitingShown[];
  backlog: WaitingShown[];
  reconciliation: { day: string; finished_at: string } | null;
  clearing: {
    books: string;
    provider: string | null;
    last_comparison: { day: string; difference: string; agreed: boolean } | null;
  };
  last_seal: { number: string; sealed_at: string; covers_until: string | null } | null;
  versions: { amanah: string; node: string; postgresql: string; temporal: string | null };
}
interface WaitingShown {
  what: string;
  count: number;
  age_seconds: number | null;
}
export interface PayoutShown {
  payout_id: string;
  reference: string;
  amount: string;
  age_seconds: number;
  reason: string;
}
export interface ReceiptShown {
  id: string;
  amount: string;
  reference: string;
  reason: string | null;
  received_at: string;
}
export interface DifferenceShown {
  id: string;
  day: string;
  resource_type: string;
  reference: string;
  ours: SideShown | null;
  theirs: SideShown | null;
}
interface SideShown {
  status: string;
  amount: string | null;
}
export interface DecisionShown {
  id: string;
  kind: DecisionKind;
  status: DecisionStatus;
  payout_id: string | null;
  outcome: string | null;
  receipt_id: string | null;
  action: string | null;
  account_id: string | null;
  reconciliation_id: string | null;
  amount: string | null;
  reference: string | null;
  withdrawal_id: string | null;
  donation_id: string | null;
  note: string;
  evidence: { provider: object | null; books: object };
  reason: string | null;
  proposed_by: string;
  /** A list for a disbursement, which several people approve. */
  approved_by: string | string[] | null;
  rejected_by: string | null;
  created_at: string;
  ended_at: string | null;
}

/** People's names by id, as far as the caller may read them. */
export type Names = ReadonlyMap<string, string>;
const nameOf = (names: Names, id: string): string => names.get(id) ?? id;

const caseWords: Record<string, string> = {
  unknown_payouts: 'Payouts with an unknown outcome',
  contradicted_payouts: 'Payouts that the provider contradicts',
  accepted_payouts: 'Payouts accepted for more than a day',
  suspended_receipts: 'Money in suspense',
  unreceipted_payments: 'Payments without a receipt',
  settling_payments: 'Payments that do not settle',
  unread_callbacks: 'Callbacks that could not be read',
  open_reconciliations: 'Differences from the provider',
  pending_decisions: 'Decisions that wait for a second person',
};
const wordsOf = (what: string): string => caseWords[what] ?? what.replaceAll('_', ' ');

/** An age in its two largest units. */
function spellAge(seconds: number | null): string {
  if (seconds === null) return '';
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
  ];
  const said = parts.filter(([count]) => count > 0).slice(0, 2);
  return said.length === 0 ? 'under a minute' : said.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** IDR, formatted for people. */
const money = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `IDR ${grouped}${/^0*$/.test(fraction) ? '' : `.${fraction}`}`;
};
const instant = (text: string): string => `${text.slice(0, 16).replace('T', ' ')} UTC`;

const proposeLink = (words: string, query: Record<string, string>): Markup =>
  html`<a href="/operations/propose?${new URLSearchParams(query).toString()}">${words}</a>`;

const kindWords: Record<DecisionKind, (decision: DecisionShown) => string> = {
  settle_payout: ({ outcome, payout_id }) => `End payout ${payout_id} as ${outcome}`,
  settle_receipt: ({ action, account_id, receipt_id }) =>
    action === 'credit'
      ? `Credit receipt ${receipt_id} to account ${account_id}`
      : `Receipt ${receipt_id} was given back at the provider`,
  explain_difference: ({ reconciliation_id }) => `Explain difference ${reconciliation_id}`,
  disburse: ({ withdrawal_id }) => `Release disbursement ${withdrawal_id}`,
  refund_donation: ({ donation_id }) => `Give donation ${donation_id} back to its donor`,
  book_external: ({ amount, reference }) => `Book ${money(amount ?? '0')} at the provider, reference ${reference}`,
};
const saysWhat = (decision: DecisionShown): string => kindWords[decision.kind](decision);

/** What waits, by kind; kinds with nothing waiting are left out. */
function waitingTable(caption: string, kinds: WaitingShown[]): Markup {
  const rows = kinds.filter(({ count }) => count > 0);
  if (rows.length === 0) return html`<p class="quiet">Nothing.</p>`;
  return html`<table>
<caption class="skip">${caption}</caption>
<thead><tr><th scope="col">What</th><th scope="col" class="number">How many</th><th scope="col" class="age">Oldest</th></tr></thead>
<tbody>${rows.map(
    ({ what, count, age_seconds }) => html`<tr><th scope="row">${wordsOf(what)}</th><td class="number">${count}</td>
<td class="age">${spellAge(age_seconds)}</td></tr>`,
  )}</tbody>
</table>`;
}

/** A part that lists items; nothing when the caller may not read it. */
function section<Item>(title: string, part: Part<Listed<Item>>, show: (item: Item) => Markup): Markup | null {
  if (part === null) return null;
  if (part === unreadable) return cannotBeRead(title);
  const { items, total } = part;
  const more = total - items.length;
  return html`<h2>${title}</h2>
${items.length === 0 ? html`<p class="quiet">None.</p>` : html`<ul class="cards">${items.map((item) => html`<li>${show(item)}</li>`)}</ul>`}
${more > 0 && html`<p class="quiet">And ${more} more, younger than these.</p>`}`;
}

const cannotBeRead = (title: string): Markup =>
  html`<h2>${title}</h2>
<p class="complaint">This cannot be read at the moment. Load the page again; the log says why.</p>`;

/** Marks a part that cannot be read at the moment, while the rest of the page can. */
export const unreadable = 'unreadable';
/** A part of the first page: null when the caller may not read it. */
export type Part<Shown> = Shown | typeof unreadable | null;
export interface Listed<Item> {
  items: Item[];
  total: number;
}
/** The contents of the first page, oldest first. */
export interface Overview {
  overview: Part<OverviewShown>;
  decisions: Part<Listed<DecisionShown>>;
  payouts: Part<Listed<PayoutShown>>;
  receipts: Part<Listed<ReceiptShown>>;
  differences: Part<Listed<DifferenceShown>>;
  names: Names;
  mayPropose: boolean;
}

/** The first page: what waits for people, and the state of the system. */
export function overviewPage(shown: Overview): Markup {
  const { overview, decisions, payouts, receipts, differences, names, mayPropose } = shown;
  const offer = (words: string, query: Record<string, string>) => mayPropose && html`<br>${proposeLink(words, query)}`;
  return html`${section(
    'Decisions that wait for a second person',
    decisions,
    (decision) => html`<a href="/operations/decisions/${decision.id}">${saysWhat(decision)}</a><br>
<span class="quiet">Proposed by ${nameOf(names, decision.proposed_by)}, ${instant(decision.created_at)}: ${decision.note}</span>`,
  )}
${section(
  'Payouts to look after',
  payouts,
  ({
    payout_id,
    reference,
    amount,
    age_seconds,
    reason,
  }) => html`${money(amount)}, ${reference}, for ${spellAge(age_seconds)}
<br><span class="quiet">${reason}</span>${isContradicted(reason) ? afterTheEnd : offer('Propose how it ended', { kind: 'settle_payout', payout_id })}`,
)}
${section(
  'Money in suspense',
  receipts,
  ({ id, amount, reference, reason, received_at }) => html`${money(amount)} for ${reference}, ${instant(received_at)}
<br><span class="quiet">${reason?.replaceAll('_', ' ')}</span>${offer('Propose where it goes', { kind: 'settle_receipt', receipt_id: id })}`,
)}
${section(
  'Differences from the provider',
  differences,
  ({ id, day, resource_type, reference, ours, theirs }) => html`${day}, ${resource_type} ${reference}
<br><span class="quiet">We: ${spellSide(ours)}. The provider: ${spellSide(theirs)}.</span>
${offer('Explain it', { kind: 'explain_difference', reconciliation_id: id })}`,
)}
${overview === unreadable ? cannotBeRead('How things stand') : overview && standing(overview)}
${mayPropose && html`<p>${proposeLink('Book what the platform itself moved at the provider', { kind: 'book_external' })}</p>`}`;
}

/** The list of stuck payouts marks a final one in this way. */
const isContradicted = (reason: string): boolean => reason.startsWith('contradicted');
const afterTheEnd = html`<br>It has ended, and what was booked stays. Ask the provider; then explain the difference below, under its day.`;

const spellSide = (side: SideShown | null): string =>
  side === null ? 'nothing' : `${side.status}${side.amount === null ? '' : `, ${money(side.amount)}`}`;

function standing({ at, cases, backlog, reconciliation, clearing, last_seal, versions }: OverviewShown): Markup {
  const { books, provider, last_comparison: compared } = clearing;
  return html`<h2>Waiting for people</h2>
${waitingTable('Waiting for people', cases)}
<h2>Waiting for machines, longer than it should</h2>
${waitingTable('Waiting for machines, longer than it should', backlog)}
<h2>How things stand</h2>
<dl>
<dt>At the provider</dt><dd>${provider === null ? 'it does not say' : money(provider)}; by our books ${money(books)}</dd>
<dt>Compared</dt><dd>${compared === null ? 'never yet' : `${compared.day}: ${compared.agreed ? 'agreed' : `a difference of ${money(compared.difference)}`}`}</dd>
<dt>Reconciled</dt><dd>${reconciliation === null ? 'no day yet' : `up to ${reconciliation.day}`}</dd>
<dt>Sealed</dt><dd>${last_seal === null ? 'nothing yet' : `seal ${last_seal.number}, ${instant(last_seal.sealed_at)}`}</dd>
<dt>Versions</dt><dd>Amanah ${versions.amanah}, Node ${versions.node}, PostgreSQL ${versions.postgresql}, Temporal ${versions.temporal ?? 'away'}</dd>
<dt>Read</dt><dd>${instant(at)}</dd>
</dl>`;
}

/** The values submitted with a proposal's form. */
export type Filled = Readonly<Record<string, string>>;

/** The form that proposes one kind of decision. */
export function proposePage(kind: ProposedKind, filled: Filled, complaint: string | null): Markup {
  return html`${complain(complaint)}
<form method="post" action="/operations/propose">
<input type="hidden" name="kind" value="${kind}">
${fieldsOf[kind](filled)}
<label for="note">Note</label>
<textarea id="note" name="note" rows="3" minlength="3" maxlength="300" required aria-describedby="about-note">${filled.note ?? ''}</textarea>
<p class="quiet" id="about-note">The evidence, by its references: ticket, statement. Never personal data.</p>
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

const choices = (name: string, legend: string, options: [value: string, words: string][], filled: Filled): Markup =>
  html`<fieldset><legend>${legend}</legend>${options.map(
    ([value, words]) => html`<label class="choice"><input type="radio" name="${name}" value="${value}" required
${filled[name] === value && 'checked'}> ${words}</label>`,
  )}</fieldset>`;

const fieldsOf: Record<ProposedKind, (filled: Filled) => Markup> = {
  settle_payout: (filled) => html`${input('payout_id', 'Payout', filled)}
${choices(
  'outcome',
  'How it ended',
  [
    ['succeeded', 'The bank paid it out: the reserved money is spent'],
    ['failed', 'It was not paid out: the money goes back to the account it came from'],
  ],
  filled,
)}`,
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
${input('reference', 'Reference', filled, { about: 'As the provider’s statement has it.' })}`,
  refund_donation: (filled) => input('donation_id', 'Donation', filled),
};

/** The heading of each decision kind's form. */
export const proposeTitles: Record<ProposedKind, string> = {
  settle_payout: 'Propose how a payout ended',
  settle_receipt: 'Propose where money in suspense goes',
  explain_difference: 'Explain a difference',
  book_external: 'Book what the platform moved',
  refund_donation: 'Propose giving a donation back',
};

/** One decision, and the actions open to the caller. */
export function decisionPage(
  decision: DecisionShown,
  {
    names,
    userId,
    mayApprove,
    complaint,
  }: { names: Names; userId: string; mayApprove: boolean; complaint: string | null },
): Markup {
  const { id, status, note, reason, evidence, proposed_by, approved_by, rejected_by, created_at, ended_at } = decision;
  return html`${complain(complaint)}
<p>${saysWhat(decision)}</p>
<dl>
<dt>Status</dt><dd><strong>${status.replaceAll('_', ' ')}</strong>${reason && `: ${reason}`}</dd>
<dt>Note</dt><dd>${note}</dd>
<dt>Proposed by</dt><dd>${nameOf(names, proposed_by)}, ${instant(created_at)}</dd>
${
  approved_by &&
  html`<dt>Approved by</dt><dd>${[approved_by]
    .flat()
    .map((person) => nameOf(names, person))
    .join(', ')}</dd>`
}
${rejected_by && html`<dt>Rejected by</dt><dd>${nameOf(names, rejected_by)}</dd>`}
${ended_at && html`<dt>Ended</dt><dd>${instant(ended_at)}</dd>`}
</dl>
<h2>What the provider said when it was proposed</h2>
${facts(evidence.provider)}
<h2>What the books said</h2>
${facts(evidence.books)}
${status === 'pending' && stepsOf(id, proposed_by === userId, mayApprove)}
<p><a href="/operations">Back to what waits</a></p>`;
}

function stepsOf(id: string, isOwn: boolean, mayApprove: boolean): Markup {
  if (isOwn) return html`<p class="quiet">You proposed it: somebody else approves or rejects it.</p>`;
  if (!mayApprove) return html`<p class="quiet">This needs somebody with the permission approve-decision.</p>`;
  return html`<div class="steps">
<form method="post" action="/operations/decisions/${id}/approve"><button>Approve and carry out</button></form>
<form method="post" action="/operations/decisions/${id}/reject"><button class="plain">Reject</button></form>
</div>`;
}

/** A value of the evidence, formatted for people. */
function spell(value: unknown): string {
  if (value === null) return 'nothing';
  const text = String(value);
  if (/^-?\d+\.\d{4}$/.test(text)) return money(text);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? instant(text) : text;
}

const facts = (side: object | null): Markup =>
  side === null
    ? html`<p class="quiet">Nothing.</p>`
    : html`<dl>${Object.entries(side).map(
        ([name, value]) => html`<dt>${name.replaceAll('_', ' ')}</dt><dd>${spell(value)}</dd>`,
      )}</dl>`;

/** The login form. */
export const logInPage = (email: string, complaint: string | null): Markup => html`${complain(complaint)}
<form method="post" action="/operations/log-in">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" value="${email}" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<label for="totp_code">Code of the authenticator app</label>
<input id="totp_code" name="totp_code" inputmode="numeric" autocomplete="one-time-code">
<p class="quiet">If you have a second factor; without one you can propose, but not approve.</p>
<div class="steps"><button>Log in</button></div>
</form>`;
