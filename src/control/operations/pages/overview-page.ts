import { html } from 'hono/html';
import type { Markup } from '../../../platform/http/card-page.ts';
import { type DecisionShown, saysWhat } from './decision-page.ts';
import { type Listed, type Part, unreadable } from './part.ts';
import { instant, money, type Names, nameOf, searchFor } from './spell.ts';

/** The fields of API responses that the pages show. */
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
  payout_id: string | null;
  provider_id: string | null;
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
  status: string;
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
const caseWords: Record<string, string> = {
  payouts_held: 'All payouts held',
  unknown_payouts: 'Payouts with an unknown outcome',
  contradicted_payouts: 'Payouts that the provider contradicts',
  accepted_payouts: 'Payouts accepted over a day ago and still open',
  suspended_receipts: 'Money in suspense',
  money_of_erased: 'Accounts of erased people that still hold money',
  unreceipted_payments: 'Payments without a receipt',
  settling_payments: 'Payments that do not settle',
  unread_callbacks: 'Callbacks that could not be read',
  open_reconciliations: 'Differences with the provider',
  pending_decisions: 'Decisions waiting for a second person',
  new_approvers: 'New approvers',
};
const wordsOf = (what: string): string => caseWords[what] ?? what.replaceAll('_', ' ');

/** Formats an age in its two largest units. */
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

export const proposeLink = (words: string, query: Record<string, string>): Markup =>
  html`<a href="/operations/propose?${new URLSearchParams(query).toString()}">${words}</a>`;

/** Renders a table of waiting items, one row per kind; omits empty kinds. */
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

/** Renders a list of items; null if the caller may not read them. */
function section<Item>(title: string, part: Part<Listed<Item>>, show: (item: Item) => Markup): Markup | null {
  if (part === null) return null;
  if (part === unreadable) return cannotBeRead(title);
  const { items, total } = part;
  const more = total - items.length;
  return html`<h2>${title}</h2>
${items.length === 0 ? html`<p class="quiet">None.</p>` : html`<ul class="cards">${items.map((item) => html`<li>${show(item)}</li>`)}</ul>`}
${more > 0 && html`<p class="quiet">And ${more} newer items.</p>`}`;
}

const cannotBeRead = (title: string): Markup =>
  html`<h2>${title}</h2>
<p class="complaint">This is currently unavailable. Reload the page; the log shows why.</p>`;

/** The data of the overview page; each list is oldest first. */
export interface Overview {
  overview: Part<OverviewShown>;
  decisions: Part<Listed<DecisionShown>>;
  payouts: Part<Listed<PayoutShown>>;
  receipts: Part<Listed<ReceiptShown>>;
  differences: Part<Listed<DifferenceShown>>;
  names: Names;
  mayPropose: boolean;
}

/** Renders the overview page: items waiting for an operator, and the system's status. */
export function overviewPage(shown: Overview): Markup {
  const { overview, decisions, payouts, receipts, differences, names, mayPropose } = shown;
  const offer = (words: string, query: Record<string, string>) => mayPropose && html`<br>${proposeLink(words, query)}`;
  return html`${section(
    'Decisions waiting for a second person',
    decisions,
    (decision) => html`<a href="/operations/decisions/${decision.id}">${saysWhat(decision)}</a><br>
<span class="quiet">Proposed by ${nameOf(names, decision.proposed_by)}, ${instant(decision.created_at)}: ${decision.note}</span>`,
  )}
${section(
  'Payouts that need attention',
  payouts,
  ({
    payout_id,
    provider_id,
    reference,
    amount,
    age_seconds,
    reason,
  }) => html`${payout_id === null ? reference : html`<a href="/operations/payouts/${payout_id}">${reference}</a>`}, ${money(amount)}, for ${spellAge(age_seconds)}
<br><span class="quiet">${reason}</span>${provider_id !== null ? offer('Propose booking the transfer', { kind: 'book_transfer', provider_reference: provider_id }) : isContradicted(reason) ? html`${afterTheEnd}${offer('Propose booking the transfer', { kind: 'book_transfer', payout_id: payout_id ?? '' })}` : offer('Propose the outcome', { kind: 'settle_payout', payout_id: payout_id ?? '' })}`,
)}
${section(
  'Money in suspense',
  receipts,
  (
    receipt,
  ) => html`${money(receipt.amount)} for <a href="${searchFor(receipt.reference)}">${receipt.reference}</a>, ${instant(receipt.received_at)}
<br><span class="quiet">${receipt.reason?.replaceAll('_', ' ')}</span>${offer('Propose a settlement', { kind: 'settle_receipt', receipt_id: receipt.id })}`,
)}
${section(
  'Differences with the provider',
  differences,
  ({ id, day, resource_type, reference, ours, theirs }) => html`${day}, ${resource_type} ${reference}
<br><span class="quiet">Our books: ${spellSide(ours)}. Provider: ${spellSide(theirs)}.</span>
${offer('Explain this difference', { kind: 'explain_difference', reconciliation_id: id })}`,
)}
${overview === unreadable ? cannotBeRead('Status') : overview && standing(overview)}
${mayPropose && html`<p>${proposeLink('Book the platform’s own transfer at the provider', { kind: 'book_external' })}</p>`}`;
}

/** Whether the provider contradicts the payout's final status. */
const isContradicted = (reason: string): boolean => reason.startsWith('contradicted');
const afterTheEnd = html`<br>This payout is final and its journal entries will not change. Ask the provider, then explain the difference listed below for that day.`;

const spellSide = (side: SideShown | null): string =>
  side === null ? 'no record' : `${side.status}${side.amount === null ? '' : `, ${money(side.amount)}`}`;

function standing({ at, cases, backlog, reconciliation, clearing, last_seal, versions }: OverviewShown): Markup {
  const { books, provider, last_comparison: compared } = clearing;
  return html`<h2>Needs an operator</h2>
${waitingTable('Needs an operator', cases)}
<h2>Overdue</h2>
${waitingTable('Overdue', backlog)}
<h2>Status</h2>
<dl>
<dt>At the provider</dt><dd>${provider === null ? 'not reported' : money(provider)}; in our books ${money(books)}</dd>
<dt>Compared</dt><dd>${compared === null ? 'not yet' : `${compared.day}: ${compared.agreed ? 'agreed' : `differs by ${money(compared.difference)}`}`}</dd>
<dt>Reconciled</dt><dd>${reconciliation === null ? 'no day yet' : `up to ${reconciliation.day}`}</dd>
<dt>Sealed</dt><dd>${last_seal === null ? 'nothing yet' : `seal ${last_seal.number}, ${instant(last_seal.sealed_at)}`}</dd>
<dt>Versions</dt><dd>Amanah ${versions.amanah}, Node ${versions.node}, PostgreSQL ${versions.postgresql}, Temporal ${versions.temporal ?? 'unreachable'}</dd>
<dt>As of</dt><dd>${instant(at)}</dd>
</dl>`;
}
